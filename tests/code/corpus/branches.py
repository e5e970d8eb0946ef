import random

import numpy as np
import tensorflow as tf
from tensorflow import keras

USE_LSTM = False
if USE_LSTM:
    Cell = keras.layers.LSTM
else:
    Cell = keras.layers.GRU
rnn = Cell(3)
print(rnn(tf.ones((1, 2, 2))).shape)

op = tf.reduce_sum if random.random() >= 0 else tf.reduce_mean
print(op(tf.ones(3)).numpy())


def pick(kind):
    if kind == "adam":
        opt = keras.optimizers.Adam()
    elif kind == "sgd":
        opt = keras.optimizers.SGD()
    else:
        raise ValueError(kind)
    return opt


optimizer = pick("sgd")
weights = [tf.Variable(1.0)]
optimizer.apply_gradients([(tf.constant(0.5), weights[0])])

value = tf.ones(3)
print(value.numpy())
value = np.ones(3)
print(value.sum())
value = [1, 2]
value.append(3)
fn = tf.abs
fn = abs
print(fn(-3))


def shadow(tf):
    return tf.upper()


def local_shadow():
    keras = {"a": 1}
    return keras.get("a")


print(shadow("text"), local_shadow(), [tf for tf in range(2)])
print([tf.strip() for tf in [" a "]], tf.constant(1).numpy())
try:
    result = tf.constant([1.0]) / 0
except ZeroDivisionError:
    result = None
else:
    result = tf.math.is_inf(result)
finally:
    tf.print("done")
print(result.numpy())
model = None
for attempt in range(2):
    if model is None:
        model = keras.Sequential([keras.layers.Dense(1)])
    model.build((None, 2))
print(model.count_params())
match value:
    case [1, *others]:
        print(tf.stack(others).numpy())
    case _:
        print(tf.zeros(1))
