import os
import tempfile

import tensorflow as tf


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.l1 = tf.keras.layers.Dense(5)

    def call(self, x):
        return self.l1(x)


class Adder(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def add(self, x):
        return x + tf.constant(1.0)


def train_step(net, example, optimizer):
    with tf.GradientTape() as tape:
        output = net(example["x"])
        loss = tf.reduce_mean(tf.abs(output - example["y"]))
    variables = net.trainable_variables
    gradients = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(gradients, variables))
    return loss


def train_and_checkpoint(net, manager, ckpt, iterator, opt):
    ckpt.restore(manager.latest_checkpoint)
    for _ in range(2):
        example = next(iterator)
        loss = train_step(net, example, opt)
        ckpt.step.assign_add(1)
        if int(ckpt.step) % 2 == 1:
            print("saved", manager.save(), loss.numpy())


folder = tempfile.mkdtemp()
inputs = tf.range(10.0)[:, None]
dataset = tf.data.Dataset.from_tensor_slices(dict(x=inputs, y=inputs * 5.0)).repeat().batch(2)
net, opt = Net(), tf.keras.optimizers.Adam(0.1)
ckpt = tf.train.Checkpoint(step=tf.Variable(1), net=net)
manager = tf.train.CheckpointManager(ckpt, os.path.join(folder, "ckpts"), max_to_keep=3)
train_and_checkpoint(net, manager, ckpt, iter(dataset), opt)
status = ckpt.restore(tf.train.latest_checkpoint(manager.directory))
status.expect_partial()
print(tf.train.list_variables(manager.latest_checkpoint)[:1])
reader = tf.train.load_checkpoint(manager.latest_checkpoint)
print(sorted(reader.get_variable_to_shape_map())[:1])
module = Adder()
tf.saved_model.save(module, os.path.join(folder, "adder"))
loaded = tf.saved_model.load(os.path.join(folder, "adder"))
print(loaded.add(tf.constant([1.0])))
net.save_weights(os.path.join(folder, "net.weights.h5"))
net.export(os.path.join(folder, "exported"), verbose=False)
