"""JAX-flavoured TensorFlow: parameters in nested dicts, tf.nest, pure update functions, star-args everywhere."""
import functools as ft
import itertools as it
import operator as op
from types import SimpleNamespace as NS

import numpy as np
import tensorflow as tf

Params = dict
nest = tf.nest
key = tf.random.Generator.from_seed(0)
act = NS(relu=tf.nn.relu, tanh=tf.math.tanh, gelu=lambda x: tf.nn.gelu(x, approximate=True))


def init_dense(rng, fan_in, fan_out, *, scale=1.0, bias=True):
    w = rng.normal((fan_in, fan_out)) * tf.sqrt(scale / fan_in)
    return {"w": tf.Variable(w), **({"b": tf.Variable(tf.zeros(fan_out))} if bias else {})}


def init_mlp(rng, *sizes, **kw) -> list:
    return [init_dense(rng, a, b, **kw) for a, b in zip(sizes[:-1], sizes[1:])]


def apply_dense(p, x):
    y = x @ p["w"]
    return y + p["b"] if "b" in p else y


def apply_mlp(params, x, activation=act.relu):
    *hidden, last = params
    for p in hidden:
        x = activation(apply_dense(p, x))
    return apply_dense(last, x)


def layer_norm(x, eps=1e-5):
    mu, var = tf.nn.moments(x, -1, keepdims=True)
    return tf.nn.batch_normalization(x, mu, var, None, None, eps)


def attention(p, x, heads=2):
    split = lambda t: tf.transpose(tf.reshape(t, (*t.shape[:-1], heads, -1)), (0, 2, 1, 3))
    q, k, v = map(split, tf.split(apply_dense(p["qkv"], x), 3, axis=-1))
    logits = tf.einsum("bhqd,bhkd->bhqk", q, k) * tf.math.rsqrt(float(q.shape[-1]))
    mask = tf.linalg.band_part(tf.ones(logits.shape[-2:]), -1, 0)
    weights = tf.nn.softmax(tf.where(mask > 0, logits, -1e9))
    mixed = tf.transpose(tf.matmul(weights, v), (0, 2, 1, 3))
    return apply_dense(p["out"], tf.reshape(mixed, x.shape))


def block(p, x, *, activation):
    x = x + attention(p["attn"], layer_norm(x))
    return x + apply_mlp(p["mlp"], layer_norm(x), activation)


def model(params, tokens, activation="gelu"):
    x = tf.nn.embedding_lookup(params["emb"], tokens) + params["pos"][: tokens.shape[1]]
    for p in params["blocks"]:
        x = block(p, x, activation=getattr(act, activation))
    return tf.matmul(layer_norm(x), params["emb"], transpose_b=True)


def init(rng, vocab=11, width=8, depth=2, length=6) -> Params:
    make_block = lambda: {"attn": {"qkv": init_dense(rng, width, 3 * width, bias=False), "out": init_dense(rng, width, width)},
                          "mlp": init_mlp(rng, width, 2 * width, width)}
    return {"emb": tf.Variable(rng.normal((vocab, width)) * 0.1), "pos": tf.Variable(rng.normal((length, width)) * 0.1),
            "blocks": [make_block() for _ in range(depth)]}


def loss_fn(params, batch):
    inputs, targets = batch[:, :-1], batch[:, 1:]
    nll = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=targets, logits=model(params, inputs))
    return tf.reduce_mean(nll)


def value_and_grad(fn):
    @ft.wraps(fn)
    def wrapped(params, *args, **kwargs):
        flat = nest.flatten(params)
        with tf.GradientTape() as tape:
            value = fn(params, *args, **kwargs)
        grads = tape.gradient(value, flat, unconnected_gradients=tf.UnconnectedGradients.ZERO)
        grads = [tf.convert_to_tensor(g) for g in grads]
        return value, nest.pack_sequence_as(params, grads)
    return wrapped


def adam(lr=1e-2, b1=0.9, b2=0.99):
    def init_state(params):
        zeros = lambda p: tf.Variable(tf.zeros_like(p), trainable=False)
        return NS(m=nest.map_structure(zeros, params), v=nest.map_structure(zeros, params), t=tf.Variable(0.0))

    def update(state, params, grads):
        t = state.t.assign_add(1.0)

        def one(p, g, m, v):
            m.assign(b1 * m + (1 - b1) * g)
            v.assign(b2 * v + (1 - b2) * tf.square(g))
            mhat, vhat = m / (1 - tf.pow(b1, t)), v / (1 - b2 ** t)
            p.assign_sub(lr * mhat / (tf.sqrt(vhat) + 1e-8))
            return p

        return nest.map_structure(one, params, grads, state.m, state.v)

    return init_state, update


params = init(key)
init_state, update = adam(lr=3e-3)
state = init_state(params)
step_grad = value_and_grad(loss_fn)
data = tf.constant(np.random.default_rng(1).integers(0, 11, (4, 6)))
for step in range(2):
    loss, grads = step_grad(params, data)
    norm = tf.linalg.global_norm(nest.flatten(grads))
    update(state, params, grads)
    print(step, loss.numpy(), norm.numpy())


@tf.function
def greedy(prompt, n):
    for _ in range(n):
        logits = model(params, prompt)
        nxt = tf.argmax(logits[:, -1], axis=-1, output_type=prompt.dtype)
        prompt = tf.concat([prompt[:, 1:], nxt[:, None]], axis=1)
    return prompt


print(greedy(data[:1, :4], 2).numpy())
sizes = nest.map_structure(lambda v: v.shape.num_elements(), params)
print(sum(nest.flatten(sizes)), ft.reduce(op.add, (tf.size(v) for v in nest.flatten(params))).numpy())
ema = nest.map_structure(tf.identity, params)
blend = lambda a, b, decay=0.9: nest.map_structure(lambda u, v: decay * u + (1 - decay) * v, a, b)
ema = blend(ema, params)
print(len(nest.flatten(ema)), [tf.reduce_mean(t).numpy() for t in nest.flatten(ema)[:2]])
args = ([3, 4],)
opts = dict(mean=0.0, stddev=0.02)
noise = tf.random.truncated_normal(*args, **opts)
print(*[f(noise).numpy() for f in (tf.reduce_min, tf.reduce_max, tf.math.reduce_euclidean_norm)])
for (name, fn), seed in it.product(vars(act).items(), (1, 2)):
    print(name, seed, fn(tf.random.stateless_normal([2], [seed, 0])).numpy())
pipeline = [(tf.cast, {"dtype": tf.float32}), (tf.math.l2_normalize, {"axis": -1}), (tf.round, {})]
value = data
for fn, kwargs in pipeline:
    value = fn(value, **kwargs)
print(value.numpy().sum())
