import tensorflow as tf

xs = [tf.constant(float(i)) for i in range(4)]
print(f"sum {tf.add_n(xs).numpy():.1f}, mean {tf.reduce_mean(tf.stack(xs)):.2f}, {xs[0].numpy()!r}")
squares = {i: tf.square(x).numpy() for i, x in enumerate(xs)}
unique = {int(tf.math.round(x)) for x in xs}
lazy = (tf.exp(x) for x in xs)
print(squares, unique, [t.numpy() for t in lazy], next((x.numpy() for x in xs)))
grid = [[tf.random.uniform((), 0, 1, seed=i * j) for i in range(2)] for j in range(2)]
print(tf.convert_to_tensor(grid).shape, all(tf.rank(g).numpy() == 0 for row in grid for g in row))
print("max {}".format(tf.reduce_max(tf.stack(xs)).numpy()), "%s" % tf.shape(xs[0]).numpy())
print(
    f"""nested {
        tf.reduce_prod(tf.stack([x + 1 for x in xs])).numpy()
    } and {', '.join(f'{tf.sign(x).numpy()}' for x in xs)}"""
)
if tf.reduce_any(tf.constant([True, False])) and not tf.reduce_all([True, False]):
    print("yes" if tf.equal(xs[0], 0.0) else "no")
for x in tf.unstack(tf.range(3)):
    print(x.numpy(), end=" ")
for batch in tf.split(tf.range(4), 2):
    print(batch.numpy(), -tf.abs(batch), tf.ones(2)[tf.constant(0)], (tf.ones(2) @ tf.ones((2, 1)) if False else ""))
assert tf.executing_eagerly(), tf.version.VERSION
print(*[t.numpy() for t in tf.meshgrid([1, 2], [3])], sep="|")
print(max(tf.range(3), key=lambda t: -t.numpy()).numpy(), sum(tf.ones(3)).numpy())
