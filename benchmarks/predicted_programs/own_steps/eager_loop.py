"""A training loop without tf.function: everything is eager."""
import tensorflow as tf

model = tf.keras.Sequential([
    tf.keras.layers.Input((28, 28, 1)),
    tf.keras.layers.Conv2D(12, 3, activation="relu"),
    tf.keras.layers.GlobalAveragePooling2D(),
    tf.keras.layers.Dense(10),
])
optimizer = tf.keras.optimizers.SGD(0.05)
loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
images = tf.random.normal((640, 28, 28, 1))
labels = tf.random.uniform((640,), 0, 10, dtype=tf.int32)
for epoch in range(2):
    for start in range(0, 640, 32):
        x = images[start:start + 32]
        y = labels[start:start + 32]
        with tf.GradientTape() as tape:
            logits = model(x, training=True)
            loss = loss_fn(y, logits)
        grads = tape.gradient(loss, model.trainable_weights)
        optimizer.apply_gradients(zip(grads, model.trainable_weights))
