"""Image preparation with tf.image, then a depthwise network."""
import numpy as np
import tensorflow as tf

raw = tf.constant(np.random.randint(0, 255, (400, 60, 80, 3), dtype=np.uint8))
images = tf.image.convert_image_dtype(raw, tf.float32)
images = tf.image.resize(images, (48, 48))
images = tf.image.random_flip_left_right(images)
images = tf.image.adjust_contrast(images, 1.2)
grey = tf.image.rgb_to_grayscale(images)
edges = tf.image.sobel_edges(grey)
labels = np.random.randint(0, 7, 400)
model = tf.keras.Sequential([
    tf.keras.layers.Input((48, 48, 3)),
    tf.keras.layers.Conv2D(24, 3, strides=2, padding="same", activation="relu"),
    tf.keras.layers.SeparableConv2D(48, 3, padding="same", activation="relu"),
    tf.keras.layers.MaxPooling2D(),
    tf.keras.layers.SeparableConv2D(64, 3, padding="same", activation="relu"),
    tf.keras.layers.GlobalAveragePooling2D(),
    tf.keras.layers.Dense(7, activation="softmax"),
])
model.compile(optimizer="rmsprop", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(images, labels, batch_size=20, epochs=4, verbose=0)
