import tensorflow as tf
import numpy as np
from collections import namedtuple
from contextlib import contextmanager, ExitStack
from concurrent.futures import ThreadPoolExecutor
from enum import Enum

Batch = namedtuple("Batch", "x y")

class Act(Enum):
    RELU = "relu"
    def fn(self):
        return getattr(tf.nn, self.value)

@contextmanager
def training(model):
    model.trainable = True
    yield model
    model.trainable = False

@contextmanager
def tape_of(*vs):
    with tf.GradientTape(watch_accessed_variables=False) as t:
        for v in vs:
            t.watch(v)
        yield t

net = tf.keras.Sequential([tf.keras.layers.Dense(2, activation=Act.RELU.fn()), tf.keras.layers.Dense(1)])
batch = Batch(x=tf.ones((2, 3)), y=tf.zeros((2, 1)))
with training(net) as m:
    print(m(batch.x).numpy())
w = tf.Variable(2.0)
with tape_of(w) as t:
    z = tf.square(w)
print(t.gradient(z, w).numpy())
with ThreadPoolExecutor(2) as pool:
    futures = [pool.submit(tf.reduce_sum, batch.x) for _ in range(2)]
    print([f.result().numpy() for f in futures], list(pool.map(lambda v: tf.sqrt(v).numpy(), [4., 9.])))
with ExitStack() as stack:
    g = stack.enter_context(tf.GradientTape())
    loss = tf.reduce_mean(tf.square(net(batch.x) - batch.y))
print([d.shape for d in g.gradient(loss, net.trainable_variables)])
def kwargs_only(*, fn, **kw):
    return fn(**kw)
print(kwargs_only(fn=tf.fill, dims=[2], value=3).numpy())
print(kwargs_only(fn=tf.keras.layers.Dense, units=1)(batch.x).shape)
def apply_all(fs, x):
    for f in fs:
        x = f(x)
    return x
print(apply_all([tf.abs, tf.sqrt, tf.keras.layers.ReLU()], batch.x).numpy())
class Chain:
    def __init__(self): self.x = tf.zeros(1)
    def add(self, v): self.x = self.x + v; return self
    def get(self): return self.x
print(Chain().add(1.).add(2.).get().numpy())
opt = tf.keras.optimizers.Adam(); step = opt.apply_gradients
step([(tf.constant(1.), w)])
fit = net.fit
net.compile("sgd", "mse")
fit(batch.x, batch.y, verbose=0)
predict = lambda a: net.predict(a, verbose=0)
print(predict(np.ones((1, 3))).shape)
data = [(tf.ones(1), i) for i in range(2)]
for tensor, i in data: print(tensor.numpy(), i)
xs, ys = zip(*data)
print(xs[0].numpy(), tf.stack(xs).numpy())
res = {k: tf.constant(v) for k, v in dict(a=1, b=2).items()}
print(res["a"].numpy(), sorted(v.numpy() for v in res.values()))
memo = {}
def cached(n):
    if n not in memo:
        memo[n] = tf.eye(n)
    return memo[n]
print(cached(2).numpy())
val = None
def set_val():
    global val
    val = tf.constant(3)
set_val()
print(val.numpy())
print("%d" % tf.constant(3).numpy(), str(tf.constant("a").numpy()), bool(tf.constant(True)))
