"""Image pipeline: preprocessing layers, tf.image chains, tf.numpy_function, boxes and masks, generators with signatures."""
import io
import itertools
import random
import tempfile
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

IMG = 24
tmp = Path(tempfile.mkdtemp())


def draw(seed):
    r = np.random.default_rng(seed)
    img = r.integers(0, 255, (IMG, IMG, 3), dtype=np.uint8)
    y, x = r.integers(0, IMG // 2, 2)
    return img, np.array([y, x, y + 8, x + 8], np.float32) / IMG


class Shapes(keras.utils.PyDataset):
    """A sequence of batches for fit."""

    def __init__(self, n, batch, **kwargs):
        super().__init__(**kwargs)
        self.n, self.batch = n, batch

    def __len__(self):
        return self.n // self.batch

    def __getitem__(self, i):
        imgs, boxes = zip(*(draw(k) for k in range(i * self.batch, (i + 1) * self.batch)))
        return np.stack(imgs).astype("float32") / 255, np.stack(boxes)


for i in range(3):
    img, _ = draw(i)
    tf.io.write_file(str(tmp / f"{i}.png"), tf.io.encode_png(img))
    (tmp / f"{i}.jpg").write_bytes(tf.image.encode_jpeg(img, quality=80).numpy())


def load(path):
    raw = tf.io.read_file(path)
    image = tf.io.decode_image(raw, channels=3, expand_animations=False)
    image = tf.image.convert_image_dtype(image, tf.float32)
    image.set_shape([None, None, 3])
    return tf.image.resize_with_pad(image, IMG, IMG)


def color_jitter(x, s=0.5):
    def brightness(x): return tf.image.random_brightness(x, 0.8 * s)
    def contrast(x): return tf.image.random_contrast(x, 1 - 0.8 * s, 1 + 0.8 * s)
    def hue(x): return tf.image.random_hue(x, 0.2 * s)
    steps = [brightness, contrast, hue]
    random.shuffle(steps)
    for step in steps:
        x = step(x)
    return tf.clip_by_value(x, 0, 1)


def random_apply(func, x, p):
    return tf.cond(tf.less(tf.random.uniform([], 0, 1), tf.cast(p, tf.float32)), lambda: func(x), lambda: x)


def cutout(image):
    def erase(array):
        array = array.copy()
        array[4:8, 4:8] = 0
        return array
    out = tf.numpy_function(erase, [image], tf.float32)
    out.set_shape(image.shape)
    return out


@tf.function
def view(image):
    image = tf.image.random_crop(image, (IMG - 4, IMG - 4, 3))
    image = tf.image.resize(image, (IMG, IMG), method=tf.image.ResizeMethod.BICUBIC)
    image = random_apply(color_jitter, image, 0.8)
    image = random_apply(lambda z: tf.tile(tf.image.rgb_to_grayscale(z), [1, 1, 3]), image, p=0.2)
    return cutout(tf.image.per_image_standardization(image))


ds = tf.data.Dataset.list_files(str(tmp / "*.png"), shuffle=False).map(load)
two_views = ds.map(lambda im: (view(im), view(im))).batch(2)
for a, b in two_views:
    print(a.shape, tf.image.ssim(a, b, max_val=4.0).numpy(), tf.image.psnr(a, b, 4.0).numpy().shape, tf.image.total_variation(a).numpy())
augment = keras.Sequential(
    [layers.RandomFlip(), layers.RandomRotation(0.1), layers.RandomContrast(0.2), layers.RandomTranslation(0.1, 0.1), layers.RandomCrop(20, 20), layers.Resizing(IMG, IMG)],
    name="augment")
batch = next(iter(ds.batch(3)))
print(augment(batch, training=True).shape, layers.CenterCrop(8, 8)(batch).shape)


def gen(n=4):
    for k in itertools.islice(itertools.count(), n):
        img, box = draw(k)
        yield {"image": img, "meta": {"id": k}}, (box, [k % 2])


sig = ({"image": tf.TensorSpec((IMG, IMG, 3), tf.uint8), "meta": {"id": tf.TensorSpec((), tf.int64)}},
       (tf.TensorSpec((4,), tf.float32), tf.TensorSpec((1,), tf.int32)))
boxes_ds = tf.data.Dataset.from_generator(gen, output_signature=sig, args=())
for features, (box, cls) in boxes_ds.batch(2).take(1):
    images = tf.cast(features["image"], tf.float32)
    drawn = tf.image.draw_bounding_boxes(images, box[:, None, :], [[1.0, 0.0, 0.0]])
    crops = tf.image.crop_and_resize(images, box, tf.range(2), (6, 6))
    print(features["meta"]["id"].numpy(), cls.numpy().ravel(), drawn.shape, crops.shape)


def iou(a, b):
    lt = ops.maximum(a[:, None, :2], b[None, :, :2])
    rb = ops.minimum(a[:, None, 2:], b[None, :, 2:])
    inter = ops.prod(ops.clip(rb - lt, 0.0, 10.0), axis=-1)
    area = lambda z: ops.prod(z[:, 2:] - z[:, :2], axis=-1)
    return inter / (area(a)[:, None] + area(b)[None] - inter + keras.config.epsilon())


all_boxes = ops.convert_to_tensor(np.stack([draw(k)[1] for k in range(4)]))
scores = ops.cast(ops.arange(4), "float32")
keep = tf.image.non_max_suppression(all_boxes, scores, 3, iou_threshold=0.5)
print(ops.convert_to_numpy(iou(all_boxes, all_boxes)).round(2), keep.numpy(), ops.take(all_boxes, keep, axis=0).shape)
inputs = keras.Input((IMG, IMG, 3))
x = layers.SeparableConv2D(4, 3, activation="relu")(inputs)
x = layers.SpatialDropout2D(0.1)(layers.DepthwiseConv2D(3)(x))
model = keras.Model(inputs, layers.Dense(4, activation="sigmoid")(layers.GlobalMaxPooling2D()(x)))


class BoxLoss(keras.losses.Loss):
    def call(self, y_true, y_pred):
        corner = ops.mean(ops.abs(y_true - y_pred), axis=-1)
        size = ops.square((y_true[:, 2:] - y_true[:, :2]) - (y_pred[:, 2:] - y_pred[:, :2]))
        return corner + ops.sum(size, axis=-1)


model.compile(keras.optimizers.Adam(), BoxLoss(reduction="sum_over_batch_size"), metrics=[keras.metrics.MeanMetricWrapper(lambda t, p: ops.max(ops.abs(t - p), axis=-1), name="worst")])
model.fit(Shapes(4, 2, workers=1), epochs=1, verbose=0)
arr = tf.image.decode_jpeg((tmp / "0.jpg").read_bytes())
arr = tf.cast(arr, tf.float32)
print(model(ops.expand_dims(arr / 255.0, 0)).numpy().shape, keras.utils.normalize(arr.numpy()).shape, model.predict(Shapes(2, 2), verbose=0).shape)
grid = ops.reshape(ops.transpose(ops.image.resize(batch, (12, 12)), (1, 0, 2, 3)), (12, -1, 3))
print(grid.shape, ops.image.extract_patches(batch, 8).shape, [int(ops.argmax(s)) for s in ops.unstack(ops.softmax(all_boxes))])
