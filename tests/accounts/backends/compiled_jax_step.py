"""A step compiled with `jax.jit`: its calls are recorded, and waited for."""

import os
os.environ["KERAS_BACKEND"] = "jax"
import jax, keras, numpy as np
import jax.numpy as jnp
m = keras.Sequential([keras.Input((32,)), keras.layers.Dense(256, activation="relu"), keras.layers.Dense(1)])
opt = keras.optimizers.Adam(); opt.build(m.trainable_variables)
def loss_fn(tv, ntv, x, y):
    p, ntv = m.stateless_call(tv, ntv, x)
    return jnp.mean((p - y) ** 2), ntv
grad = jax.value_and_grad(loss_fn, has_aux=True)
@jax.jit
def train_step(state, x, y):
    tv, ntv, ov = state
    (loss, ntv), g = grad(tv, ntv, x, y)
    tv, ov = opt.stateless_apply(ov, g, tv)
    return loss, (tv, ntv, ov)
state = (m.trainable_variables, m.non_trainable_variables, opt.variables)
state = tuple([v.value for v in s] for s in state)
x = np.ones((512, 32), "float32"); y = np.ones((512, 1), "float32")
for i in range(150):
    loss, state = train_step(state, x, y)
print("loss", float(loss) >= 0)
