"""Graph network, dynamic loops with TensorArray, py_function, numpy_function and tf.Module trees."""
from __future__ import annotations

import enum
import operator
import typing as t

import numpy as np
import tensorflow as tf

Tensor = tf.Tensor
Activation = t.Callable[[tf.Tensor], tf.Tensor]


class Aggregation(enum.Enum):
    SUM = "sum"
    MEAN = "mean"
    MAX = "max"

    def __call__(self, data: Tensor, segments: Tensor, count: Tensor) -> Tensor:
        functions = {
            Aggregation.SUM: tf.math.unsorted_segment_sum,
            Aggregation.MEAN: tf.math.unsorted_segment_mean,
            Aggregation.MAX: tf.math.unsorted_segment_max,
        }
        return functions[self](data, segments, count)


class Graph(t.NamedTuple):
    nodes: tf.Tensor
    senders: tf.Tensor
    receivers: tf.Tensor

    @property
    def size(self) -> tf.Tensor:
        return tf.shape(self.nodes)[0]


class Linear(tf.Module):
    def __init__(self, units: int, activation: t.Optional[Activation] = None, name: str | None = None):
        super().__init__(name)
        self.units = units
        self.activation = activation
        self.w: tf.Variable | None = None

    @tf.Module.with_name_scope
    def __call__(self, x: Tensor) -> Tensor:
        if self.w is None:
            initial = tf.keras.initializers.GlorotUniform()
            self.w = tf.Variable(initial((x.shape[-1], self.units)), name="w")
            self.b = tf.Variable(tf.zeros([self.units]), name="b")
        y = tf.linalg.matmul(x, self.w) + self.b
        return y if self.activation is None else self.activation(y)


class MessagePassing(tf.Module):
    def __init__(self, units: int, how: Aggregation = Aggregation.MEAN):
        super().__init__()
        self.message = Linear(units, tf.nn.relu)
        self.update = Linear(units, tf.tanh)
        self.how = how

    def __call__(self, graph: Graph) -> Graph:
        sent = tf.gather(graph.nodes, graph.senders)
        received = tf.gather(graph.nodes, graph.receivers)
        messages = self.message(tf.concat([sent, received], axis=-1))
        pooled = self.how(messages, graph.receivers, graph.size)
        nodes = self.update(tf.concat((graph.nodes, pooled), -1))
        return graph._replace(nodes=nodes)


class Network(tf.Module):
    def __init__(self, widths: t.Sequence[int], classes: int):
        super().__init__()
        self.steps = [MessagePassing(width, how) for width, how in zip(widths, Aggregation)]
        self.readout = Linear(classes)

    def __call__(self, graph: Graph) -> tf.Tensor:
        for step in self.steps:
            graph = step(graph)
        return self.readout(graph.nodes)


def random_graph(n: int, seed: int) -> Graph:
    generator = tf.random.Generator.from_seed(seed)
    edges = generator.uniform((2, 3 * n), maxval=n, dtype=tf.int32)
    senders, receivers = tf.unstack(edges)
    return Graph(generator.normal((n, 4)), senders, receivers)


network = Network([6, 6, 4], classes=3)
optimizer = tf.optimizers.Adam(0.01)
labels = tf.constant(np.arange(8) % 3)
graph = random_graph(8, seed=1)
network(graph)


def objective() -> Tensor:
    logits = network(graph)
    per_node = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
    penalty = tf.add_n([tf.nn.l2_loss(v) for v in network.trainable_variables if v.shape.rank > 1])
    return tf.reduce_mean(per_node) + 1e-3 * penalty


for i in range(2):
    with tf.GradientTape() as tape:
        value = objective()
    gradients = tape.gradient(value, network.trainable_variables)
    optimizer.apply_gradients((g, v) for g, v in zip(gradients, network.trainable_variables) if g is not None)
    tf.print("step", i, "loss", value, output_stream="file:///dev/null")


@tf.function
def collatz(n: tf.Tensor) -> tf.Tensor:
    values = tf.TensorArray(tf.int32, size=0, dynamic_size=True, clear_after_read=False)
    i = tf.constant(0)
    while n > 1:
        values = values.write(i, n)
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        i += 1
    return values.stack()


print(collatz(tf.constant(6)).numpy(), collatz.get_concrete_function(tf.TensorSpec([], tf.int32)).name)


def fold(cell, inputs, state):
    outputs = tf.TensorArray(tf.float32, size=inputs.shape[0])
    for step in tf.range(tf.shape(inputs)[0]):
        out, state = cell(tf.expand_dims(inputs[step], 0), state)
        outputs = outputs.write(step, out[0])
    return outputs.stack(), state


cell = tf.keras.layers.GRUCell(3)
stacked, final = fold(cell, tf.random.normal((4, 2)), [tf.zeros((1, 3))])
print(stacked.shape, tf.nest.map_structure(lambda s: s.shape, final), tf.nest.flatten({"a": stacked})[0].dtype)


def rotate(x: np.ndarray, angle) -> np.ndarray:
    return np.roll(x, int(angle), axis=0)


@tf.function(input_signature=(tf.TensorSpec([None], tf.float32),))
def pipeline(x):
    y = tf.numpy_function(rotate, [x, 1], tf.float32)
    y = tf.ensure_shape(y, [None])
    z = tf.py_function(func=lambda v: v.numpy() * 2, inp=[y], Tout=tf.float32)
    z.set_shape(x.shape)
    return tf.cast(tf.round(z), tf.int32)


print(pipeline(tf.constant([1.0, 2.0, 3.0])).numpy())
getters = [operator.itemgetter(0), operator.attrgetter("shape")]
print([get(graph.nodes) is not None for get in getters])
ops: dict[str, t.Callable] = {name: getattr(tf, name) for name in ("abs", "negative", "square")}
for name, op in ops.items():
    print(name, op(tf.constant([-1.0, 2.0])).numpy())
method = getattr(tf.math, "log1p")
table = tf.stack([method(tf.abs(x)) for x in tf.unstack(graph.nodes)])
ranked = tf.sort(tf.reshape(table, [-1]), direction="DESCENDING")[:3]
mask = tf.sequence_mask([1, 3], maxlen=4)
scattered = tf.tensor_scatter_nd_update(tf.zeros([4]), [[1], [3]], [5.0, 6.0])
print(ranked.numpy(), tf.boolean_mask(tf.ones((2, 4)), mask).shape, scattered.numpy(), tf.argsort([3, 1]).numpy())
checkpoint = tf.train.Checkpoint(network=network, optimizer=optimizer)
manager = tf.train.CheckpointManager(checkpoint, "./gnn", max_to_keep=1)
manager.save()
status = checkpoint.restore(manager.latest_checkpoint)
status.assert_existing_objects_matched()
