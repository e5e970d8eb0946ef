"""A custom loop under MirroredStrategy."""

import tensorflow as tf

strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(64, activation="relu"), tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.SGD(0.01)
x = tf.random.normal([1024, 16], seed=1)
dataset = tf.data.Dataset.from_tensor_slices((x, tf.reduce_sum(x, axis=1, keepdims=True))).batch(64)
distributed = strategy.experimental_distribute_dataset(dataset)


def replica_step(batch):
    features, labels = batch
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(features) - labels) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


@tf.function
def step(batch):
    return strategy.reduce(tf.distribute.ReduceOp.MEAN, strategy.run(replica_step, args=(batch,)), axis=None)


for epoch in range(4):
    for batch in distributed:
        loss = step(batch)
print("loss", float(loss) >= 0)
