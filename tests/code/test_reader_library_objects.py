"""Objects of the standard library that hand on what they were given, and annotations made of its generics."""

from __future__ import annotations


def test_records_and_namespaces(apis_of):
    assert apis_of(
        """
        from collections import namedtuple
        from types import SimpleNamespace
        from typing import NamedTuple
        import tensorflow as tf
        Pair = namedtuple("Pair", ["model", "data"])
        pair = Pair(tf.keras.Sequential(), data=tf.data.Dataset.range(1))
        pair.model.fit(pair.data.batch(2))
        model, data = pair._replace(data=None)
        model.fit(data)
        class Typed(NamedTuple):
            data: tf.data.Dataset
            model: tf.keras.Model
        typed = Typed(pair.data, tf.keras.Sequential())
        data, model = typed
        model.fit(data.batch(1))
        typed._replace(model=None).data.batch(3)
        space = SimpleNamespace(model=model)
        space.model.predict()
        """
    ) == [
        (6, "keras.Sequential"),
        (6, "tensorflow.data.Dataset.range"),
        (7, "keras.Sequential.fit"),
        (7, "tensorflow.data.Dataset.batch"),
        (9, "keras.Sequential.fit"),
        (13, "keras.Sequential"),
        (15, "keras.Sequential.fit"),
        (15, "tensorflow.data.Dataset.batch"),
        (16, "tensorflow.data.Dataset.batch"),
        (18, "keras.Sequential.predict"),
    ]


def test_factories_of_fields_and_dictionaries(apis_of):
    assert apis_of(
        """
        from collections import defaultdict
        from dataclasses import dataclass, field, replace
        from keras import losses, metrics, optimizers
        @dataclass
        class Config:
            optimizer: optimizers.Optimizer = field(default_factory=lambda: optimizers.SGD(0.1))
            loss: losses.Loss = field(default_factory=losses.Huber)
        config = Config()
        config.optimizer.apply_gradients([])
        replace(config, optimizer=optimizers.Adam()).optimizer.apply_gradients([])
        config.loss(1, 2)
        means = defaultdict(metrics.Mean)
        means["loss"].update_state(1)
        """
    ) == [
        (6, "keras.optimizers.SGD"),
        (9, "keras.optimizers.SGD.apply_gradients"),
        (10, "keras.optimizers.Adam.apply_gradients"),
        (10, "keras.optimizers.Adam"),
        (11, "keras.losses.Huber.__call__"),
        (13, "keras.metrics.Mean.update_state"),
    ]


def test_exit_stacks_executors_and_imports_by_name(apis_of):
    assert apis_of(
        """
        import contextlib, importlib, threading
        from concurrent.futures import ThreadPoolExecutor
        import tensorflow as tf
        with contextlib.ExitStack() as stack:
            tape = stack.enter_context(tf.GradientTape())
            tape.watch(1)
        def work(x):
            return x.numpy() or tf.ones(1)
        with ThreadPoolExecutor() as pool:
            pool.submit(work, tf.zeros(1)).result().numpy()
            for tensor in pool.map(work, [tf.zeros(1)]): tensor.numpy()
        threading.Thread(target=work, args=(tf.zeros(2),)).start()
        importlib.import_module("tensorflow.keras.layers").Dense(1)
        """
    ) == [
        (5, "tensorflow.GradientTape"),
        (6, "tensorflow.GradientTape.watch"),
        (8, "tensorflow.Tensor.numpy"),
        (8, "tensorflow.ones"),
        (10, "tensorflow.Tensor.numpy"),
        (10, "tensorflow.zeros"),
        (11, "tensorflow.zeros"),
        (11, "tensorflow.Tensor.numpy"),
        (12, "tensorflow.zeros"),
        (13, "keras.layers.Dense"),
    ]


def test_annotations_of_callables_aliases_and_type_variables(calls_of):
    calls = calls_of(
        """
        from typing import Callable, Dict, Optional, Tuple, Type, TypeVar
        import tensorflow as tf
        M = TypeVar("M", bound=tf.keras.Model)
        Batch = Tuple[tf.Tensor, Optional[tf.Tensor]]
        BUILDERS: Dict[str, Callable[..., tf.keras.Model]] = {}
        def f(model: M, batch: Batch, make: Callable[[int], "tf.data.Dataset"], cls: Type[tf.keras.Model]):
            x, y = batch
            model.fit(x.numpy(), y.numpy())
            make(3).batch(2)
            cls().predict(x)
            BUILDERS[x]().evaluate()
        """
    )
    assert [(call.span.start.row, call.api, call.confidence) for call in calls] == [
        (8, "keras.Model.fit", 0.8),
        (8, "tensorflow.Tensor.numpy", 0.8),
        (8, "tensorflow.Tensor.numpy", 0.8),
        (9, "tensorflow.data.Dataset.batch", 0.8),
        (10, "keras.Model.predict", 0.8),
        (11, "keras.Model.evaluate", 0.8),
    ]


def test_a_class_that_passes_on_what_it_does_not_know(apis_of):
    assert apis_of(
        """
        import keras
        class Wrapper:
            def __init__(self, inner):
                self.inner = inner
            def __getattr__(self, name):
                return getattr(self.inner, name)
            def fit(self): ...
        wrapper = Wrapper(keras.Sequential())
        wrapper.compile("sgd"); wrapper.fit()
        """
    ) == [(8, "keras.Sequential"), (9, "keras.Sequential.compile")]


def test_identifiers_of_keras(apis_of):
    assert apis_of(
        """
        from keras import activations, initializers, layers, losses, optimizers
        class Unit(layers.Layer):
            def __init__(self, activation="relu"):
                super().__init__()
                self.activation = activations.get(activation)
            def call(self, x):
                return self.activation(x)
        Unit()(1)
        optimizers.get("adam").apply_gradients([])
        losses.get("mse")(1, 2)
        initializers.get("glorot_uniform")((1, 2))
        losses.get(losses.Huber())(1, 2)
        optimizers.get(unknown).apply_gradients([])
        """
    ) == [
        (4, "keras.Layer.__init__"),
        (5, "keras.activations.get"),
        (7, "keras.activations.relu"),
        (8, "keras.Layer.__call__"),
        (9, "keras.optimizers.Adam.apply_gradients"),
        (9, "keras.optimizers.get"),
        (10, "keras.metrics.mean_squared_error"),
        (10, "keras.losses.get"),
        (11, "keras.initializers.GlorotUniform.__call__"),
        (11, "keras.initializers.get"),
        (12, "keras.losses.Huber.__call__"),
        (12, "keras.losses.get"),
        (12, "keras.losses.Huber"),
        (13, "keras.Optimizer.apply_gradients"),
        (13, "keras.optimizers.get"),
    ]


def test_a_method_that_only_ragged_tensors_have(apis_of):
    assert apis_of(
        """
        import keras
        words = keras.layers.TextVectorization(ragged=True)(["a b"])
        words[:, 1:].to_tensor().numpy()
        """
    ) == [
        (2, "keras.layers.TextVectorization.__call__"),
        (2, "keras.layers.TextVectorization"),
        (3, "tensorflow.Tensor.numpy"),
        (3, "tensorflow.RaggedTensor.to_tensor"),
    ]


def test_functions_that_hand_on_elements(apis_of):
    assert apis_of(
        """
        import asyncio, itertools, operator, queue, random
        import tensorflow as tf
        tensors = [tf.ones(1)]
        for a, b in itertools.combinations(tensors, 2): a.numpy()
        for a, b in itertools.zip_longest(tensors, [1]): a.numpy()
        for key, group in itertools.groupby(tensors):
            for a in group: a.numpy()
        for a in itertools.chain.from_iterable([tensors]): a.numpy()
        for a in itertools.starmap(lambda n, m: tf.zeros(n), [(1, 2)]): a.numpy()
        random.choice(tensors).numpy(); random.sample(tensors, 1)[0].numpy()
        operator.itemgetter(0)(tensors).numpy(); operator.attrgetter("shape")(tensors[0]).as_list()
        def pairs():
            yield tf.eye(1), tf.eye(2)
        left, right = zip(*pairs())
        right[0].numpy()
        waiting = queue.Queue()
        waiting.put(left[0])
        waiting.get().numpy()
        async def work(): return tf.eye(3)
        async def main():
            first, second = await asyncio.gather(work(), work())
            second.numpy()
        """
    ) == [
        (3, "tensorflow.ones"),
        *[(row, "tensorflow.Tensor.numpy") for row in (4, 5, 7, 8)],
        (9, "tensorflow.zeros"),
        (9, "tensorflow.Tensor.numpy"),
        (10, "tensorflow.Tensor.numpy"),
        (10, "tensorflow.Tensor.numpy"),
        (11, "tensorflow.Tensor.numpy"),
        (11, "tensorflow.TensorShape.as_list"),
        (13, "tensorflow.eye"),
        (13, "tensorflow.eye"),
        (15, "tensorflow.Tensor.numpy"),
        (18, "tensorflow.Tensor.numpy"),
        (19, "tensorflow.eye"),
        (22, "tensorflow.Tensor.numpy"),
    ]


def test_operators_as_functions_and_names_of_a_namespace(apis_of):
    assert apis_of(
        """
        import functools, operator, types, tensorflow as tf
        functools.reduce(operator.add, [tf.ones(1), tf.ones(2)]).numpy()
        operator.getitem([tf.eye(1)], 0).numpy()
        for name, act in vars(types.SimpleNamespace(relu=tf.nn.relu)).items():
            act(1).numpy()
        """
    ) == [
        (2, "tensorflow.Tensor.numpy"),
        (2, "tensorflow.ones"),
        (2, "tensorflow.ones"),
        (3, "tensorflow.Tensor.numpy"),
        (3, "tensorflow.eye"),
        (5, "tensorflow.Tensor.numpy"),
        (5, "tensorflow.nn.relu"),
    ]


def test_a_member_whose_name_is_not_known(calls_of):
    found = calls_of(
        """
        import sys, keras, tensorflow as tf
        layer = getattr(keras.layers, sys.argv[1])(3)
        layer(tf.ones(1)).numpy()
        getattr(tf.nn, sys.argv[2])(1).numpy()
        getattr(tf, sys.argv[3])(1).numpy()
        """
    )
    assert [(call.api, call.confidence) for call in found] == [
        ("keras.Layer", 0.5),
        ("tensorflow.Tensor.numpy", 1.0),
        ("keras.Layer.__call__", 0.5),
        ("tensorflow.ones", 1.0),
        ("tensorflow.Tensor.numpy", 0.5),
    ]
