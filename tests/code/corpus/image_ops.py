import numpy as np
import tensorflow as tf
from tensorflow import image as tfi
from tensorflow.io import decode_png, encode_png


def normalize(image):
    image = tf.cast(image, tf.float32)
    return (image / 127.5) - 1


@tf.function
def random_jitter(image):
    image = tf.image.resize(image, [12, 12], method=tf.image.ResizeMethod.NEAREST_NEIGHBOR)
    image = tf.image.random_crop(image, size=[8, 8, 3])
    if tf.random.uniform(()) > 0.5:
        image = tf.image.flip_left_right(image)
    return image


picture = np.random.randint(0, 255, (10, 10, 3)).astype(np.uint8)
encoded = encode_png(picture)
tf.io.write_file("picture.png", encoded)
restored = tf.io.read_file("picture.png")
image = decode_png(restored, channels=3)
image = tf.image.convert_image_dtype(image, tf.float32)
bright = tfi.adjust_brightness(image, 0.1)
gray = tfi.rgb_to_grayscale(bright)
print(gray.shape, tf.image.psnr(image, bright, max_val=1.0).numpy())
batch = tf.stack([random_jitter(normalize(picture)) for _ in range(2)])
print(batch.shape, tfi.central_crop(batch, 0.5).shape)
boxes = tf.constant([[0.0, 0.0, 0.5, 0.5]])
crops = tf.image.crop_and_resize(batch, boxes, box_indices=[0], crop_size=(4, 4))
print(crops.numpy().mean(), tf.image.total_variation(batch).numpy())
sobel = tf.image.sobel_edges(batch)
print(tf.reduce_max(sobel).numpy(), tf.image.pad_to_bounding_box(image, 1, 1, 12, 12).shape)
patches = tf.image.extract_patches(batch, [1, 4, 4, 1], [1, 4, 4, 1], [1, 1, 1, 1], "VALID")
print(patches.get_shape().as_list())
paths = tf.data.Dataset.list_files("*.png")
for item in paths.map(tf.io.read_file).map(lambda b: tf.io.decode_image(b, expand_animations=False)):
    print(item.shape)
