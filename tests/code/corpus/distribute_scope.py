import tensorflow as tf

physical = tf.config.list_physical_devices("GPU")
for gpu in physical:
    tf.config.experimental.set_memory_growth(gpu, True)
strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
print("replicas", strategy.num_replicas_in_sync, len(tf.config.list_logical_devices("CPU")))
GLOBAL_BATCH = 4 * strategy.num_replicas_in_sync

with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(2), tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.SGD(0.01)
    loss_object = tf.keras.losses.MeanSquaredError(reduction=None)
    train_accuracy = tf.keras.metrics.MeanSquaredError(name="mse")

dataset = tf.data.Dataset.from_tensor_slices((tf.ones((8, 3)), tf.zeros((8, 1)))).batch(GLOBAL_BATCH)
dist_dataset = strategy.experimental_distribute_dataset(dataset)
model.build((None, 3))
optimizer.build(model.trainable_variables)


def compute_loss(labels, predictions):
    per_example_loss = loss_object(labels, predictions)
    return tf.nn.compute_average_loss(per_example_loss, global_batch_size=GLOBAL_BATCH)


def train_step(inputs):
    images, labels = inputs
    with tf.GradientTape() as tape:
        predictions = model(images, training=True)
        loss = compute_loss(labels, predictions)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    train_accuracy.update_state(labels, predictions)
    return loss


@tf.function
def distributed_train_step(dataset_inputs):
    per_replica = strategy.run(train_step, args=(dataset_inputs,))
    return strategy.reduce(tf.distribute.ReduceOp.SUM, per_replica, axis=None)


total = 0.0
for x in dist_dataset:
    total += distributed_train_step(x)
print(total.numpy(), train_accuracy.result().numpy())
train_accuracy.reset_state()
with tf.device("/cpu:0"), tf.name_scope("scope"):
    a = tf.constant([[1.0, 2.0]])
    print(tf.matmul(a, a, transpose_b=True).device, a.device)
