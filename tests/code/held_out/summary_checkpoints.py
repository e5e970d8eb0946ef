#!/usr/bin/env python
# quick experiment script: summaries, checkpoints, saved model with signatures
import datetime
import os
import shutil
import tempfile
import tensorflow as tf
import numpy as np

LOGDIR = os.path.join(tempfile.mkdtemp(), "logs")
stamp = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
train_log_dir = os.path.join(LOGDIR, "gradient_tape", stamp, "train")
test_log_dir = os.path.join(LOGDIR, "gradient_tape", stamp, "test")
train_summary_writer = tf.summary.create_file_writer(train_log_dir)
test_summary_writer = tf.summary.create_file_writer(test_log_dir)

(x_train, y_train), (x_test, y_test) = [(np.random.rand(16, 8, 8).astype("f4"), np.random.randint(0, 10, 16)) for _ in range(2)]
x_train, x_test = x_train / 255.0, x_test / 255.0

train_dataset = tf.data.Dataset.from_tensor_slices((x_train, y_train))
test_dataset = tf.data.Dataset.from_tensor_slices((x_test, y_test))
train_dataset = train_dataset.shuffle(60).batch(8)
test_dataset = test_dataset.batch(8)

loss_object = tf.keras.losses.SparseCategoricalCrossentropy()
optimizer = tf.keras.optimizers.Adam()
train_loss = tf.keras.metrics.Mean('train_loss', dtype=tf.float32)
train_accuracy = tf.keras.metrics.SparseCategoricalAccuracy('train_accuracy')
test_loss = tf.keras.metrics.Mean('test_loss', dtype=tf.float32)
test_accuracy = tf.keras.metrics.SparseCategoricalAccuracy('test_accuracy')


def log(tag, value, **kw):
    """Scalars need TensorBoard; raw tensors do not."""
    try:
        return tf.summary.scalar(tag, value, **kw)
    except Exception:
        with tf.summary.experimental.summary_scope(tag, values=[value]) as (full, _):
            return tf.summary.write(full, tf.cast(value, tf.float32), **kw)


def create_model():
    return tf.keras.models.Sequential([
        tf.keras.layers.Input(shape=(8, 8)),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(16, activation='relu', name='layers_dense'),
        tf.keras.layers.Dropout(0.2, name='layers_dropout'),
        tf.keras.layers.Dense(10, activation='softmax', name='layers_dense_2'),
    ])


def train_step(model, optimizer, x_train, y_train):
    with tf.GradientTape() as tape:
        predictions = model(x_train, training=True)
        loss = loss_object(y_train, predictions)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    train_loss(loss)
    train_accuracy(y_train, predictions)


def test_step(model, x_test, y_test):
    predictions = model(x_test)
    loss = loss_object(y_test, predictions)
    test_loss(loss)
    test_accuracy(y_test, predictions)


model = create_model()  # reset our model
step_counter = tf.Variable(0, dtype=tf.int64, trainable=False)
ckpt = tf.train.Checkpoint(step=step_counter, optimizer=optimizer, net=model)
manager = tf.train.CheckpointManager(ckpt, os.path.join(LOGDIR, "tf_ckpts"), max_to_keep=2)
if manager.latest_checkpoint:
    print("Restored from {}".format(manager.latest_checkpoint))
else:
    print("Initializing from scratch.")

EPOCHS = 2
for epoch in range(EPOCHS):
    for (xb, yb) in train_dataset:
        train_step(model, optimizer, xb, yb)
        ckpt.step.assign_add(1)
    with train_summary_writer.as_default():
        log('loss', train_loss.result(), step=epoch)
        log('accuracy', train_accuracy.result(), step=epoch)
        log('kernel', tf.norm(model.layers[1].kernel), step=epoch)

    for (xb, yb) in test_dataset:
        test_step(model, xb, yb)
    with test_summary_writer.as_default(step=epoch):
        log('loss', test_loss.result())
        tf.summary.write('note', tf.strings.format("epoch {}", [tf.constant(epoch)]))
    path = manager.save()
    template = 'Epoch {}, Loss: {}, Accuracy: {}, Test Loss: {}, Test Accuracy: {}'
    print(template.format(epoch + 1, train_loss.result(), train_accuracy.result() * 100,
                          test_loss.result(), test_accuracy.result() * 100))
    for m in (train_loss, test_loss, train_accuracy, test_accuracy):
        m.reset_state()
train_summary_writer.flush(); test_summary_writer.close()

fresh = create_model()
status = tf.train.Checkpoint(net=fresh).restore(manager.latest_checkpoint)
status.expect_partial()
print([name for name, shape in tf.train.list_variables(manager.latest_checkpoint)][:3], tf.train.latest_checkpoint(manager.directory))
reader = tf.train.load_checkpoint(manager.latest_checkpoint)
print(sorted(reader.get_variable_to_shape_map())[:2], reader.get_tensor("step/.ATTRIBUTES/VARIABLE_VALUE"))


class Exported(tf.Module):
    def __init__(self, net):
        super().__init__(name="exported")
        self.net = net
        self.calls = tf.Variable(0)

    @tf.function(input_signature=[tf.TensorSpec([None, 8, 8], tf.float32, name="image")])
    def serve(self, image):
        self.calls.assign_add(1)
        probs = self.net(image)
        top = tf.math.top_k(probs, k=3)
        return {"values": top.values, "indices": top.indices}

    @tf.function(input_signature=[])
    def version(self):
        return tf.constant("v1")


exported = Exported(fresh)
where = os.path.join(LOGDIR, "export", "1")
tf.saved_model.save(exported, where, signatures={"serving_default": exported.serve, "version": exported.version.get_concrete_function()})
print(tf.saved_model.contains_saved_model(where))
loaded = tf.saved_model.load(where)
infer = loaded.signatures["serving_default"]
out = infer(image=tf.constant(x_test[:2], tf.float32))
print(list(out), out["indices"].numpy(), infer.structured_outputs, loaded.calls.numpy())
writer = tf.summary.create_noop_writer()
with writer.as_default(), tf.summary.record_if(lambda: tf.equal(tf.summary.experimental.get_step() or 0, 0)):
    tf.summary.write("nothing", 1.0, step=0)
shutil.rmtree(LOGDIR)
