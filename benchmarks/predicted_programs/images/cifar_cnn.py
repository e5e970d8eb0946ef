"""A small VGG-like network, Sequential, images as uint8 that are scaled inside."""
import tensorflow as tf

def make_model(classes):
    return tf.keras.Sequential([
        tf.keras.layers.Input((32, 32, 3)),
        tf.keras.layers.Rescaling(1.0 / 255),
        tf.keras.layers.Conv2D(24, 3, activation="relu", padding="same"),
        tf.keras.layers.Conv2D(24, 3, activation="relu"),
        tf.keras.layers.MaxPooling2D(2),
        tf.keras.layers.Dropout(0.25),
        tf.keras.layers.Conv2D(48, 3, activation="relu", padding="same"),
        tf.keras.layers.MaxPooling2D(2),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(192, activation="relu"),
        tf.keras.layers.Dropout(0.5),
        tf.keras.layers.Dense(classes),
    ])

images = tf.random.uniform((1500, 32, 32, 3), maxval=255.0)
labels = tf.random.uniform((1500,), maxval=10, dtype=tf.int32)
model = make_model(10)
model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
model.fit(images, labels, batch_size=64, epochs=3, verbose=0)
logits = model.predict(images[:256], verbose=0)
