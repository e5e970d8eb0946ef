"""tf.data with map, cache, repeat and steps_per_epoch."""
import tensorflow as tf

def normalise(image, label):
    return tf.cast(image, tf.float32) / 255.0, label

images = tf.cast(tf.random.uniform((1000, 28, 28), maxval=256, dtype=tf.int32), tf.uint8)
labels = tf.random.uniform((1000,), maxval=10, dtype=tf.int64)
ds = tf.data.Dataset.from_tensor_slices((images, labels))
train = ds.take(800).map(normalise, num_parallel_calls=tf.data.AUTOTUNE).cache().shuffle(800).repeat().batch(40).prefetch(2)
test = ds.skip(800).map(normalise).batch(100)
model = tf.keras.models.Sequential([
    tf.keras.layers.Flatten(input_shape=(28, 28)),
    tf.keras.layers.Dense(200, activation="relu"),
    tf.keras.layers.Dense(10),
])
model.compile(optimizer=tf.keras.optimizers.Adam(0.001), loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=[tf.keras.metrics.SparseCategoricalAccuracy()])
model.fit(train, epochs=5, steps_per_epoch=30, validation_data=test, verbose=0)
