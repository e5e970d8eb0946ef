"""MirroredStrategy custom loop with mixed precision, loss scaling and global batch bookkeeping; old-timer style."""
import os
import sys
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf
from tensorflow.keras import mixed_precision as mp

FLAGS = type("Flags", (), {"global_batch": 8, "steps": 2, "fp16": False, "lr": 0.05})()

strategy = tf.distribute.MirroredStrategy(devices=["/cpu:0"])
print('Number of devices: {}'.format(strategy.num_replicas_in_sync))
policy = mp.Policy("mixed_bfloat16")
mp.set_global_policy(policy)
print('Compute dtype: %s' % policy.compute_dtype)
print('Variable dtype: %s' % policy.variable_dtype)


def dataset_fn(ctx=None):
    batch = ctx.get_per_replica_batch_size(FLAGS.global_batch) if ctx else FLAGS.global_batch
    d = tf.data.Dataset.range(32)
    d = d.map(lambda i: (tf.random.stateless_uniform([4], seed=tf.stack([i, i])), tf.cast(i % 2, tf.float32)))
    d = d.shard(ctx.num_input_pipelines, ctx.input_pipeline_id) if ctx else d
    return d.batch(batch).repeat().prefetch(2)


dist = strategy.experimental_distribute_dataset(dataset_fn())
dist_fn = strategy.distribute_datasets_from_function(dataset_fn)

with strategy.scope():
    def build():
        inputs = tf.keras.Input(shape=(4,))
        h = tf.keras.layers.Dense(8, activation="relu")(inputs)
        h = tf.keras.layers.Dense(1)(h)
        outputs = tf.keras.layers.Activation("linear", dtype="float32", name="predictions")(h)
        return tf.keras.Model(inputs, outputs)

    model = build()
    inner = tf.keras.optimizers.SGD(FLAGS.lr)
    optimizer = mp.LossScaleOptimizer(inner) if FLAGS.fp16 else inner
    loss_object = tf.keras.losses.BinaryCrossentropy(from_logits=True, reduction="none")
    train_acc = tf.keras.metrics.BinaryAccuracy(name="acc")
    counter = tf.Variable(0.0, aggregation=tf.VariableAggregation.SUM, synchronization=tf.VariableSynchronization.ON_READ)
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)

    def compute_loss(labels, predictions, model_losses):
        per_example_loss = loss_object(labels[:, None], predictions)
        loss = tf.nn.compute_average_loss(per_example_loss, global_batch_size=FLAGS.global_batch)
        if model_losses:
            loss += tf.nn.scale_regularization_loss(tf.add_n(model_losses))
        return loss


def train_step(inputs):
    images, labels = inputs
    with tf.GradientTape() as tape:
        predictions = model(images, training=True)
        loss = compute_loss(labels, predictions, model.losses)
        scaled = optimizer.scale_loss(loss)
    gradients = tape.gradient(scaled, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    train_acc.update_state(labels[:, tf.newaxis], predictions)
    counter.assign_add(1.0)
    return loss


@tf.function
def distributed_train_step(dataset_inputs):
    per_replica_losses = strategy.run(train_step, args=(dataset_inputs,))
    return strategy.reduce(tf.distribute.ReduceOp.SUM, per_replica_losses, axis=None)


it = iter(dist)
for step in range(FLAGS.steps):
    loss = distributed_train_step(next(it))
    print("step", step, "loss", float(loss), "acc", train_acc.result().numpy(), file=sys.stderr)


@tf.function
def many(iterator, steps):
    total = 0.0
    for _ in tf.range(steps):
        total += strategy.reduce("MEAN", strategy.run(train_step, args=(next(iterator),)), axis=None)
    return total / tf.cast(steps, tf.float32)


print(many(iter(dist_fn), tf.constant(2)).numpy())


@tf.function(reduce_retracing=True)
def replica_fn():
    ctx = tf.distribute.get_replica_context()
    value = tf.identity(tf.cast(ctx.replica_id_in_sync_group, tf.float32) + 1.0)
    return ctx.all_reduce(tf.distribute.ReduceOp.MEAN, value)


result = strategy.run(replica_fn)
print([v.numpy() for v in strategy.experimental_local_results(result)])
values = strategy.experimental_distribute_values_from_function(lambda c: tf.constant(float(c.replica_id_in_sync_group)))
print(strategy.gather(tf.constant([1.0]), axis=0).numpy(), values is not None)
train_acc.reset_state()
mp.set_global_policy("float32")
print(mp.global_policy().name, tf.keras.backend.floatx(), counter.read_value().numpy())

one = tf.distribute.OneDeviceStrategy(device="/cpu:0")
with one.scope():
    quick = tf.keras.Sequential()
    quick.add(tf.keras.layers.Dense(2, input_shape=(4,)))
    quick.compile(optimizer="sgd", loss="mse")
quick.fit(tf.data.Dataset.from_tensors((tf.ones((2, 4)), tf.zeros((2, 2)))), verbose=0)
for var in quick.trainable_variables:
    print(var.path, var.shape, tf.norm(var).numpy())
gpus = tf.config.experimental.list_physical_devices("GPU")
if gpus:
    for gpu in gpus:
        tf.config.experimental.set_memory_growth(gpu, True)
else:
    print("no gpu", tf.config.list_logical_devices("CPU")[0].name, tf.test.is_gpu_available() if False else "")
