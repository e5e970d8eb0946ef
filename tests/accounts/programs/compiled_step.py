"""A custom training loop with a compiled step."""

import tensorflow as tf

x = tf.random.normal([2048, 32], seed=1)
y = tf.cast(tf.reduce_sum(x, axis=1, keepdims=True) > 0, tf.float32)
dataset = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(2048, seed=1).batch(64)
model = tf.keras.Sequential([tf.keras.layers.Dense(128, activation="relu"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam()


@tf.function
def train_step(features, labels):
    with tf.GradientTape() as tape:
        logits = model(features, training=True)
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


for epoch in range(8):
    for features, labels in dataset:
        loss = train_step(features, labels)
print("loss", float(loss))
