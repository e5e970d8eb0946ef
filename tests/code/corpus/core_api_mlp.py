"""Multilayer perceptron from the Core API: tf.Module, xavier init, own Adam, export."""
import collections
import os
import tempfile

import numpy as np
import tensorflow as tf

tf.random.set_seed(22)
rng = np.random.default_rng(0)
images = rng.integers(0, 256, (60, 6, 6, 1)).astype(np.uint8)
classes = rng.integers(0, 4, 60)
train_data = tf.data.Dataset.from_tensor_slices((images[:40], classes[:40])).batch(10)
test_data = tf.data.Dataset.from_tensor_slices((images[40:], classes[40:])).batch(10)


def preprocess(x, y):
    x = tf.reshape(x, shape=[-1, 36])
    x = x / 255
    x = tf.cast(x, tf.float32)
    return x, y


train_data, test_data = train_data.map(preprocess), test_data.map(preprocess)


def xavier_init(shape):
    in_dim, out_dim = shape
    xavier_lim = tf.sqrt(6.) / tf.sqrt(tf.cast(in_dim + out_dim, tf.float32))
    weight_vals = tf.random.uniform(shape=(in_dim, out_dim), minval=-xavier_lim, maxval=xavier_lim, seed=22)
    return weight_vals


class DenseLayer(tf.Module):
    def __init__(self, out_dim, weight_init=xavier_init, activation=tf.identity):
        self.out_dim = out_dim
        self.weight_init = weight_init
        self.activation = activation
        self.built = False

    def __call__(self, x):
        if not self.built:
            self.in_dim = x.shape[1]
            self.w = tf.Variable(self.weight_init(shape=(self.in_dim, self.out_dim)))
            self.b = tf.Variable(tf.zeros(shape=(self.out_dim,)))
            self.built = True
        z = tf.add(tf.matmul(x, self.w), self.b)
        return self.activation(z)


class MLP(tf.Module):
    def __init__(self, layers):
        self.layers = layers

    @tf.function
    def __call__(self, x, preds=False):
        for layer in self.layers:
            x = layer(x)
        return x


hidden_layer_1_size = 12
hidden_layer_2_size = 8
mlp_model = MLP([
    DenseLayer(out_dim=hidden_layer_1_size, activation=tf.nn.relu),
    DenseLayer(out_dim=hidden_layer_2_size, activation=tf.nn.relu),
    DenseLayer(out_dim=4)])


def cross_entropy_loss(y_pred, y):
    sparse_ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=y_pred)
    return tf.reduce_mean(sparse_ce)


def accuracy(y_pred, y):
    class_preds = tf.argmax(tf.nn.softmax(y_pred), axis=1)
    is_equal = tf.equal(y, class_preds)
    return tf.reduce_mean(tf.cast(is_equal, tf.float32))


class Adam:
    def __init__(self, learning_rate=1e-3, beta_1=0.9, beta_2=0.999, ep=1e-7):
        self.beta_1, self.beta_2, self.learning_rate, self.ep = beta_1, beta_2, learning_rate, ep
        self.t = 1.
        self.v_dvar, self.s_dvar = [], []
        self.built = False

    def apply_gradients(self, grads, vars):
        if not self.built:
            for var in vars:
                v = tf.Variable(tf.zeros(shape=var.shape))
                s = tf.Variable(tf.zeros(shape=var.shape))
                self.v_dvar.append(v)
                self.s_dvar.append(s)
            self.built = True
        for i, (d_var, var) in enumerate(zip(grads, vars)):
            self.v_dvar[i].assign(self.beta_1 * self.v_dvar[i] + (1 - self.beta_1) * d_var)
            self.s_dvar[i].assign(self.beta_2 * self.s_dvar[i] + (1 - self.beta_2) * tf.square(d_var))
            v_dvar_bc = self.v_dvar[i] / (1 - (self.beta_1 ** self.t))
            s_dvar_bc = self.s_dvar[i] / (1 - (self.beta_2 ** self.t))
            var.assign_sub(self.learning_rate * (v_dvar_bc / (tf.sqrt(s_dvar_bc) + self.ep)))
        self.t += 1.


def train_step(x_batch, y_batch, loss, acc, model, optimizer):
    with tf.GradientTape() as tape:
        y_pred = model(x_batch)
        batch_loss = loss(y_pred, y_batch)
    batch_acc = acc(y_pred, y_batch)
    grads = tape.gradient(batch_loss, model.variables)
    optimizer.apply_gradients(grads, model.variables)
    return batch_loss, batch_acc


def val_step(x_batch, y_batch, loss, acc, model):
    y_pred = model(x_batch)
    return loss(y_pred, y_batch), acc(y_pred, y_batch)


def train_model(mlp, train_data, val_data, loss, acc, optimizer, epochs):
    logs = collections.defaultdict(list)
    for epoch in range(epochs):
        batch_losses_train, batch_accs_train = [], []
        for x_batch, y_batch in train_data:
            batch_loss, batch_acc = train_step(x_batch, y_batch, loss, acc, mlp, optimizer)
            batch_losses_train.append(batch_loss)
            batch_accs_train.append(batch_acc)
        val = [val_step(x_batch, y_batch, loss, acc, mlp) for x_batch, y_batch in val_data]
        train_loss, train_acc = tf.reduce_mean(batch_losses_train), tf.reduce_mean(batch_accs_train)
        val_loss = tf.reduce_mean([pair[0] for pair in val])
        logs['train'].append(train_loss.numpy())
        print(f"Epoch: {epoch} Training loss: {train_loss:.3f}, accuracy: {train_acc:.3f}, {val_loss:.3f}")
    return logs


logs = train_model(mlp_model, train_data, test_data, loss=cross_entropy_loss, acc=accuracy, optimizer=Adam(), epochs=2)


class ExportModule(tf.Module):
    def __init__(self, model, preprocess, class_pred):
        self.model = model
        self.preprocess = preprocess
        self.class_pred = class_pred

    @tf.function(input_signature=[tf.TensorSpec(shape=[None, None, None, None], dtype=tf.uint8)])
    def __call__(self, x):
        x = self.preprocess(x)
        y = self.model(x)
        return self.class_pred(y)


def preprocess_test(x):
    x = tf.reshape(x, shape=[-1, 36])
    return tf.cast(x / 255, tf.float32)


def class_pred_test(y):
    return tf.argmax(tf.nn.softmax(y), axis=1)


mlp_model_export = ExportModule(model=mlp_model, preprocess=preprocess_test, class_pred=class_pred_test)
save_path = os.path.join(tempfile.mkdtemp(), 'mlp_model_export')
tf.saved_model.save(mlp_model_export, save_path)
mlp_loaded = tf.saved_model.load(save_path)
test_classes = mlp_loaded(tf.constant(images[:5]))
print(test_classes.numpy(), [v.shape for v in mlp_model_export.trainable_variables][:1], len(mlp_model.submodules))
