import tensorflow as tf

t = tf.constant([[1.0, 2.0], [3.0, 4.0]])
total = t + 1
print(total.numpy(), (t @ t).numpy(), (-t).numpy(), (t > 2).numpy(), t[0].numpy(), t[:, 1:].numpy().shape)
print((2 * t).numpy(), (t / 2)[0, 0].numpy(), abs(t).numpy(), (t**2).numpy(), (~tf.constant(True)).numpy())
row = t[0]
row.shape.assert_has_rank(1)
print(row.get_shape().as_list(), row.shape.as_list(), row.dtype.as_numpy_dtype, t.shape.num_elements())
rows = tf.unstack(t)
print(rows[0].numpy(), [r.numpy() for r in rows], tf.stack(rows)[1].numpy())
parts = [p.numpy() for p in tf.split(t, 2)]
best = tf.math.top_k(t)
print(best.values.numpy(), best.indices.numpy(), parts)
unique, idx, count = tf.unique_with_counts([1, 1, 2])
print(unique.numpy(), idx.numpy(), count.numpy())
v = tf.Variable(t)
print(v.assign_add(t).numpy(), v[0].numpy(), (v + 1).numpy(), v.numpy().sum(), v.read_value().numpy(), v.value().numpy())
x = t if tf.reduce_sum(t) > 0 else tf.zeros_like(t)
y = x or t if False else x
print(x.numpy(), y.numpy())
acc = 0.0
for r in t:
    acc += tf.reduce_sum(r)
print(acc.numpy())
acc = tf.zeros(2)
for i in range(2):
    acc = acc + t[i]
print(acc.numpy(), tf.reduce_max(acc, axis=None).numpy().item())
d = {"a": t, "b": [t, t]}
print(d["a"].numpy(), d["b"][0].numpy(), d.get("a").numpy(), [v.numpy() for v in d["b"]])
for key, value in d.items():
    if key == "a":
        print(value.numpy())
nested = ((t, t), [t])
(a, b), (c,) = nested
print(a.numpy(), b.numpy(), c.numpy())
f = lambda z: z.numpy()
print(f(t), (lambda z: z.numpy().sum())(t))


def double(z):
    return z * 2


def swap(p, q):
    return q, p


print(double(t).numpy(), swap(t, t)[0].numpy())
p, q = swap(t, total)
print(p.numpy(), q.numpy())
print(tf.nest.map_structure(lambda z: z.numpy(), [t, t])[0], tf.nest.flatten([t, [t]])[0].numpy())
out = []
out.append(t)
out += [t]
print(out[0].numpy(), out[-1].numpy(), out.pop().numpy())
ref = t.ref()
print(ref.deref().numpy(), t.device, hash(ref) != 0)
