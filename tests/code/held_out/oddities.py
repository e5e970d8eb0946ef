# Legal Python that people do write.
import tensorflow as tf, numpy as np; k = tf.keras
L = k.layers
class A(L.Layer):
    units = 2; scale = tf.constant(2.0)
    def build(self, s): self.d = L.Dense(self.units); self.built = True
    def call(self, x): return self.d(x) * self.scale
net = k.Sequential([A(), *[L.Dense(1) for _ in range(2)], *(L.ReLU(),)])
out = net(tf.ones((1, 3))) ; print(out.numpy() if out is not None else None)
def outer():
    v = tf.Variable(0.)
    def inner():
        nonlocal v
        v.assign_add(1.)
        return v
    return inner
counter = outer(); print(counter().numpy(), counter().numpy())
print((tf.add if True else tf.subtract)(1, 2).numpy(), [tf.abs, tf.square][1](3).numpy())
print(getattr(tf, "negative")(1).numpy(), tf.__version__.split(".")[0])
def defaults(f=tf.reduce_sum, *, axis=None, g=lambda t: tf.sqrt(t)): return g(f(tf.ones(4), axis=axis))
print(defaults().numpy(), defaults(tf.reduce_max).numpy())
async def gen():
    yield tf.zeros(1)
    yield tf.ones(1)
import asyncio
async def use():
    return [t.numpy() async for t in gen()]
print(asyncio.run(use()))
try: raise tf.errors.InvalidArgumentError(None, None, "x")
except tf.errors.OpError as e: print(e.message)
x = tf.constant([1., 2.]); x = x if tf.reduce_sum(x) > 100 else tf.identity(x); print(x
    .numpy()
    .sum())
params = {"units": 2, "activation": "relu"}; args = [3]
print(L.Dense(**params)(tf.ones((1, 2))).shape, L.Dense(*args)(tf.ones((1, 2))).shape)
class Meta(type): pass
class Holder(metaclass=Meta):
    ops = [tf.sin, tf.cos]
    @property
    def first(self): return self.ops[0]
    def __getitem__(self, i): return self.ops[i]
h = Holder(); print(h.first(0.).numpy(), h[1](0.).numpy(), Holder.ops[0](1.).numpy())
global_step: "tf.Variable" = tf.Variable(0, dtype=tf.int64); global_step.assign_add(1)
with tf.GradientTape() as t, tf.name_scope("s") as s: t.watch(x); y = tf.math.xlogy(x, x)
print(t.gradient(y, x).numpy(), s)
assert isinstance(net.layers[0], A) and not callable(tf.float32)
print(np.sum([w.numpy().sum() for w in net.weights]) == sum(tf.reduce_sum(w).numpy() for w in net.weights))
