"""Programs of all kinds in one: each layer's name ends in the line where it is created, `_atN` (see `labelled_source`)."""

# ruff: noqa: B905

import sys

import keras
import numpy as np
import tensorflow as tf
from keras import layers

rng = np.random.default_rng(1)
x = rng.random((64, 8, 8, 3)).astype("float32")
y = rng.integers(0, 4, 64)
rows = x.reshape(64, 8, 24)


def block(inputs, units):
    hidden = layers.Dense(units, activation="relu", name="in_function_@")(inputs)
    return layers.LayerNormalization(name="norm_@")(hidden)


class Residual(layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.first = layers.Dense(units, activation="relu", name="first_@")
        self.second = layers.Dense(units, name="second_@")

    def call(self, inputs):
        return tf.square(inputs) + self.second(self.first(inputs))


class Net(keras.Model):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.flatten = layers.Flatten(name="flat_@")
        self.stem = layers.Dense(32, name="stem_@")
        self.blocks = [Residual(32, name=f"res{i}_@") for i in range(2)]
        self.head = (
            layers.Dense(
                4,
                name="head_@",
            )
            if True
            else None
        )

    def call(self, inputs):
        hidden = self.stem(self.flatten(inputs))
        for one in self.blocks:
            hidden = one(hidden)
        return self.head(hidden)

    def train_step(self, data):
        inputs, labels = data
        with tf.GradientTape() as tape:
            logits = self(inputs, training=True)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        return {"loss": loss}


class Linear(tf.Module):
    def __init__(self, units, name=None):
        super().__init__(name=name)
        self.weight = tf.Variable(tf.random.normal((192, units)))

    @tf.function  # a function in a function: its gradient is a graph of its own
    def __call__(self, inputs):
        return tf.nn.relu(tf.matmul(inputs, self.weight))


class Square(tf.Module):
    def __init__(self, name=None):
        super().__init__(name=name)
        self.weight = tf.Variable(tf.random.normal((192, 192)))

    def __call__(self, inputs):
        return tf.nn.relu(tf.matmul(inputs, self.weight))


class Stack(tf.Module):
    def __init__(self):
        super().__init__(name="stack")
        self.parts = []
        for _ in range(3):
            self.parts.append(Square(name="alike"))

    def __call__(self, inputs):
        for one in self.parts:
            inputs = one(inputs)
        return inputs


def sequential():
    model = keras.Sequential(
        [
            keras.Input((8, 8, 3)),
            layers.Conv2D(8, 3, activation="relu", name="conv_@"),
            layers.Flatten(name="flat_@"),
            *[layers.Dense(16, name=f"list{i}_@") for i in range(2)],
        ]
    )
    for i in range(2):
        model.add(layers.Dense(16, activation="relu", name=f"loop{i}_@"))
    model.add(layers.Dense(4, name="out_@"))
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    model.fit(x, y, epochs=2, verbose=0, validation_split=0.25)
    model.predict(x, verbose=0)


def functional():
    inputs = keras.Input((192,))
    shared = layers.Dense(24, name="shared_@")
    left, right = shared(inputs), shared(inputs * 2.0)
    image = layers.Reshape((8, 8, 3), name="image_@")(inputs)
    branches = [layers.Conv2D(8 + 8 * index, 3, name=f"branch_{index}_@")(image) for index in range(2)]
    both = layers.GlobalAveragePooling2D(name="pool_@")(layers.Concatenate(name="both_@")(branches))
    hidden = block(layers.Add(name="add_@")([left, right, both]), 16)
    inner = keras.Sequential([layers.Dense(16, name="inner_@")], name="nested_@")
    model = keras.Model(inputs, layers.Dense(4, name="out_@")(inner(hidden)))
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(x.reshape(64, 192), y, epochs=2, verbose=0)


def subclassed():
    model = Net()
    model.compile("adam")
    model.fit(
        tf.data.Dataset.from_tensor_slices((x, y)).map(lambda a, b: (a * 2.0, b)).batch(16),
        epochs=2,
        verbose=0,
    )


def recurrent():
    model = keras.Sequential(
        [
            keras.Input((8, 24)),
            layers.LSTM(16, return_sequences=True, name="lstm_@"),
            layers.GRU(16, name="gru_@"),
            layers.Dense(4, name="out_@"),
        ]
    )
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(rows, y, epochs=2, verbose=0)


def compiled_step():
    module, model = Linear(16), keras.Sequential([layers.Dense(16, name="dense_@")])
    optimizer = keras.optimizers.SGD()
    data = tf.constant(x.reshape(64, 192))

    @tf.function
    def step(data):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(model(data) * module(data)) + tf.reduce_mean(
                tf.matmul(data, data, transpose_b=True)
            )
        variables = [*model.trainable_variables, *module.trainable_variables]
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    for _ in range(4):
        step(data)


def mixed():
    keras.mixed_precision.set_global_policy("mixed_bfloat16")
    sequential_of("mixed", layers.Dense(16, name="dense_@"))
    keras.mixed_precision.set_global_policy("float32")


def mirrored():
    with tf.distribute.MirroredStrategy().scope():
        sequential_of("mirrored", layers.Dense(16, name="dense_@"))


def compiled():
    sequential_of("jit", layers.Dense(64, activation="relu", name="dense_@"), jit_compile=True)


def attention():
    inputs = keras.Input((8, 24))
    hidden = layers.MultiHeadAttention(2, 8, name="attention_@")(inputs, inputs)
    model = keras.Model(
        inputs, layers.Dense(4, name="out_@")(layers.GlobalAveragePooling1D(name="pool_@")(hidden))
    )
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(rows, y, epochs=2, verbose=0)


def sequential_of(name, layer, **kwargs):
    model = keras.Sequential([keras.Input((192,)), layer, layers.Dense(4, name="out_@")], name=name)
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True), **kwargs)
    model.fit(x.reshape(64, 192), y, epochs=2, verbose=0)


class Turning(layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.state_size = self.output_size = self.units = units
        self.inner = layers.Dense(units, name="turned_@")

    def call(self, inputs, states):
        state = tf.tanh(self.inner(tf.concat([inputs, states[0]], -1)))
        return state, [state]


def wrapped():
    inputs = keras.Input((8, 24))
    hidden = layers.TimeDistributed(
        layers.Dense(8, name="repeated_@"),
        name="each_@",
    )(inputs)
    hidden = layers.Bidirectional(
        layers.LSTM(
            8,
            return_sequences=True,
            name="both_ways_@",
        ),
        name="wrapper_@",
    )(hidden)
    hidden = layers.RNN(
        [
            layers.GRUCell(8, name="cell_@"),
            Turning(8, name="turning_@"),
        ],
        name="cells_@",
    )(hidden)
    model = keras.Model(inputs, layers.Dense(4, name="out_@")(hidden))
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(rows, y, epochs=2, verbose=0)


class Twins(keras.Model):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.one = layers.Dense(4, name="alike")
        self.other = layers.Dense(4, name="alike")

    def call(self, inputs):
        return self.other(self.one(inputs))


def twins():
    model = Twins(name="twins")
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(x.reshape(64, 192), y, epochs=2, verbose=0)
    left, right = keras.Input((192,)), keras.Input((192,))
    base = keras.Sequential([layers.Dense(4, name="shared_by_two_@")], name="base")
    first = base(left)
    second = base(right)
    model = keras.Model([left, right], layers.Subtract(name="minus_@")([first, second]))
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit([x.reshape(64, 192)] * 2, y, epochs=2, verbose=0)


def eager():
    model = keras.Sequential(
        [layers.Dense(64, activation="relu", name="one_@"), layers.Dense(4, name="two_@")]
    )
    optimizer = keras.optimizers.SGD()
    data = tf.constant(x.reshape(64, 192))
    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(data) ** 2)
        optimizer.apply_gradients(
            zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        )


def shared_between_models():
    inputs, other = keras.Input((192,)), keras.Input((192,))
    hidden = Residual(192, name="own_call_@")(inputs)
    code = layers.Dense(8, name="of_two_models_@")
    used = code(hidden)
    whole = keras.Model(inputs, layers.Concatenate(name="joined_@")([used, used]), name="whole")
    half = keras.Model(other, code(other), name="half")
    whole.compile("sgd", "mse")
    whole.fit(x.reshape(64, 192), np.zeros((64, 16)), epochs=2, verbose=0)
    half.predict(x.reshape(64, 192), verbose=0)


def stacked():
    stack = Stack()
    through = tf.function(lambda inputs: stack(inputs))
    for _ in range(4):
        through(tf.constant(x.reshape(64, 192)))


def eager_fit():
    model = Net(name="eagerly")
    model.compile("adam", run_eagerly=True)
    model.fit(x, y, epochs=2, verbose=0)


def residual():
    inputs = keras.Input((8, 8, 3))
    stem = layers.Conv2D(16, 3, padding="same", name="in_both_@")(inputs)
    hidden = layers.Conv2D(16, 3, padding="same", name="before_sum_@")(layers.ReLU(name="apart_@")(stem))
    summed = layers.Add(name="sum_@")([stem, hidden])
    outputs = layers.ReLU(name="behind_sum_@")(summed)
    model = keras.Model(inputs, layers.Flatten(name="flattened_@")(outputs), name="residual")
    model.predict(x, verbose=0)


@tf.function
def by_hand(images, filters):
    found = tf.nn.conv2d(images, filters, 1, "SAME")
    found = tf.nn.bias_add(found, tf.ones(16))
    return tf.nn.relu(found)


def raw():
    for _ in range(4):
        by_hand(tf.constant(x), tf.ones((3, 3, 3, 16)))


for name in sys.argv[1:]:
    globals()[name]()
