"""Images to TFRecords and back: tf.train.Example, tf.io, sharding, interleave, augmentations."""
import glob
import json
import os
import random

import numpy as np
import tensorflow as tf

AUTO = tf.data.experimental.AUTOTUNE
SHARDS = 2
SIDE = 12
FEATURES = {
    "image": tf.io.FixedLenFeature([], tf.string),
    "label": tf.io.FixedLenFeature([], tf.int64),
    "boxes": tf.io.VarLenFeature(tf.float32),
    "meta": tf.io.FixedLenFeature([], tf.string, default_value="{}"),
}


def _bytes_feature(value):
    """Returns a bytes_list from a string / byte."""
    if isinstance(value, type(tf.constant(0))):
        value = value.numpy()
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))


def _float_feature(value):
    return tf.train.Feature(float_list=tf.train.FloatList(value=value))


def _int64_feature(value):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=[value]))


def serialize_example(image, label, boxes):
    feature = {
        "image": _bytes_feature(tf.io.encode_jpeg(image, quality=95)),
        "label": _int64_feature(label),
        "boxes": _float_feature(boxes),
        "meta": _bytes_feature(json.dumps({"label": label}).encode()),
    }
    proto = tf.train.Example(features=tf.train.Features(feature=feature))
    return proto.SerializeToString()


class ShardWriter:
    def __init__(self, folder, shards):
        os.makedirs(folder, exist_ok=True)
        options = tf.io.TFRecordOptions(compression_type="GZIP")
        self.writers = [
            tf.io.TFRecordWriter(os.path.join(folder, f"part-{i:03d}.tfrec"), options=options) for i in range(shards)
        ]

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        for writer in self.writers:
            writer.close()

    def write(self, index, record):
        self.writers[index % len(self.writers)].write(record)


def parse(record):
    example = tf.io.parse_single_example(record, FEATURES)
    image = tf.io.decode_jpeg(example["image"], channels=3)
    image = tf.image.convert_image_dtype(image, tf.float32)
    image.set_shape([SIDE, SIDE, 3])
    boxes = tf.sparse.to_dense(example["boxes"])
    boxes = tf.reshape(boxes, (-1, 4))
    return image, example["label"], boxes


def augment(image, label, boxes):
    image = tf.image.random_flip_left_right(image)
    image = tf.image.random_brightness(image, 0.2)
    image = tf.image.random_contrast(image, 0.8, 1.2)
    image = tf.image.random_saturation(image, 0.8, 1.2)
    image = tf.image.rot90(image, k=random.randint(0, 3))
    image = tf.image.central_crop(image, 0.75)
    image = tf.image.resize_with_pad(image, SIDE, SIDE)
    image = tf.image.per_image_standardization(image)
    return image, label, boxes


def only_image(image, label, _boxes):
    return image, label


def get_dataset(files, training=True, batch=4):
    options = tf.data.Options()
    options.deterministic = not training
    ds = tf.data.Dataset.list_files(files, shuffle=training)
    ds = ds.interleave(lambda f: tf.data.TFRecordDataset(f, compression_type="GZIP"), cycle_length=2,
                       num_parallel_calls=AUTO)
    ds = ds.with_options(options)
    ds = ds.map(parse, num_parallel_calls=AUTO)
    if training:
        ds = ds.map(augment, num_parallel_calls=AUTO).repeat(2).shuffle(16, reshuffle_each_iteration=True)
    ds = ds.apply(tf.data.experimental.assert_cardinality(16 if training else 8))
    return ds.map(only_image).batch(batch, drop_remainder=True).prefetch(AUTO)


with ShardWriter("records", SHARDS) as writer:
    for index in range(8):
        pixels = np.random.randint(0, 255, (SIDE, SIDE, 3), dtype=np.uint8)
        writer.write(index, serialize_example(pixels, index % 2, np.random.rand(4 * (index % 3)).tolist()))

paths = sorted(glob.glob("records/*.tfrec"))
raw = tf.data.TFRecordDataset(paths, compression_type="GZIP", num_parallel_reads=2)
for record in raw.take(1):
    example = tf.train.Example()
    example.ParseFromString(record.numpy())
    label = example.features.feature["label"].int64_list.value[0]
    print("first label", label)

train, valid = get_dataset("records/*.tfrec"), get_dataset(paths, training=False)
print(train.element_spec, valid.cardinality().numpy())
images, labels = next(iter(valid))
boxed = tf.image.draw_bounding_boxes(images, tf.constant([[[0.1, 0.1, 0.5, 0.5]]] * 4), colors=[[1.0, 0.0, 0.0]])
selected = tf.image.non_max_suppression([[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 0.9, 0.9]], [0.9, 0.8], 2)
print(boxed.shape, selected.numpy(), tf.image.ssim(images, boxed, 1.0, filter_size=5).shape)
grey = tf.image.rgb_to_grayscale(images)
edges = tf.image.sobel_edges(grey)
patches = tf.image.extract_patches(images, [1, 4, 4, 1], [1, 4, 4, 1], [1, 1, 1, 1], "VALID")
print(edges.shape, patches.get_shape(), tf.image.psnr(images, images * 0.9, 1.0).numpy().mean())

backbone = tf.keras.Sequential([
    tf.keras.layers.Input((SIDE, SIDE, 3)),
    tf.keras.layers.RandomZoom(0.1),
    tf.keras.layers.SeparableConv2D(4, 3),
    tf.keras.layers.GlobalAveragePooling2D(),
    tf.keras.layers.Dense(2, activation="softmax"),
])
backbone.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(), metrics=["sparse_categorical_accuracy"])
backbone.fit(train, steps_per_epoch=2, epochs=1, validation_data=valid, verbose=2)
batches = [b for b, _ in valid.unbatch().batch(3).as_numpy_iterator()]
print(len(batches), tf.io.gfile.exists("records"), tf.io.parse_tensor(tf.io.serialize_tensor(labels), tf.int64))
tf.io.gfile.rmtree("records")
