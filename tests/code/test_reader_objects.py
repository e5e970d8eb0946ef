"""Objects: attributes, containers, context managers, subclasses, functions that return models."""

from __future__ import annotations


def test_instance_attributes_set_in_any_method(apis_of):
    assert apis_of(
        """
        from tensorflow import keras
        class Trainer:
            kind = keras.Sequential
            def run(self):
                self.model.fit()
                self.late.predict()
                self.kind()
            def __init__(self, model):
                self.model = model
            def other(self):
                self.late = keras.Sequential()
            @property
            def net(self):
                return self.model
        t = Trainer(keras.Model(1, 2))
        t.run()
        t.net.evaluate()
        """
    ) == [
        (5, "keras.Model.fit"),
        (6, "keras.Sequential.predict"),
        (7, "keras.Sequential"),
        (11, "keras.Sequential"),
        (15, "keras.Model"),
        (17, "keras.Model.evaluate"),
    ]


def test_containers_of_layers(apis_of):
    assert apis_of(
        """
        from keras import layers
        stack = [layers.Dense(1) for _ in range(2)]
        stack.append(layers.Dropout(0.5))
        named = {"a": layers.Dense(2)}
        named["b"] = layers.Conv2D(1, 2)
        stack[0](x); named["b"](x); named.get("a")(x)
        for layer in stack: layer(x)
        for name, layer in named.items(): layer.build(3)
        for i, layer in enumerate(reversed(stack)): layer.get_config()
        """
    ) == [
        (2, "keras.layers.Dense"),
        (3, "keras.layers.Dropout"),
        (4, "keras.layers.Dense"),
        (5, "keras.layers.Conv2D"),
        (6, "keras.layers.Dense.__call__"),
        (6, "keras.layers.Conv2D.__call__"),
        (6, "keras.layers.Dense.__call__"),
        (7, "keras.layers.Dense.__call__"),
        (8, "keras.layers.Dense.build"),
        (9, "keras.layers.Dropout.get_config"),
    ]


def test_context_managers(apis_of):
    assert apis_of(
        """
        import tensorflow as tf
        from contextlib import contextmanager
        with tf.GradientTape() as tape, tf.device("cpu"):
            tape.watch(x)
        g = tape.gradient(y, [x])
        g[0].numpy()
        @contextmanager
        def strategy():
            yield tf.distribute.MirroredStrategy()
        with strategy() as s, s.scope():
            s.reduce("sum", 1)
        """
    ) == [
        (3, "tensorflow.GradientTape"),
        (3, "tensorflow.device"),
        (4, "tensorflow.GradientTape.watch"),
        (5, "tensorflow.GradientTape.gradient"),
        (6, "tensorflow.Tensor.numpy"),
        (9, "tensorflow.distribute.MirroredStrategy"),
        (10, "tensorflow.distribute.MirroredStrategy.scope"),
        (11, "tensorflow.distribute.MirroredStrategy.reduce"),
    ]


def test_functions_that_return_models_and_their_parameters(apis_of):
    assert apis_of(
        """
        from tensorflow import keras
        def build(): return keras.Sequential()
        def train(model, times=3):
            model.fit()
            return model
        def promised(m: keras.Model | None) -> "list[keras.Model]":
            m.fit()
            return load()
        train(build()).evaluate()
        promised(None)[0].predict()
        """
    ) == [
        (2, "keras.Sequential"),
        (4, "keras.Sequential.fit"),
        (7, "keras.Model.fit"),
        (9, "keras.Sequential.evaluate"),
        (10, "keras.Model.predict"),
    ]


def test_subclasses_inherit_public_methods_and_super_reaches_them(apis_of):
    assert apis_of(
        """
        import tensorflow as tf
        class Net(tf.keras.Model):
            def __init__(self):
                super().__init__()
                self.dense = tf.keras.layers.Dense(1)
            def call(self, inputs):
                return self.dense(inputs)
            def fit(self, *args):
                return super().fit(*args)
        class Deeper(Net):
            def call(self, x):
                return super().call(x) + tf.nn.relu(x)
        net = Deeper()
        net.compile(); net.fit(); net(1).numpy()
        class M(tf.Module):
            def __call__(self, x): return tf.abs(x)
        M()(1)
        class CB(tf.keras.callbacks.Callback):
            def on_epoch_end(self, epoch, logs=None):
                self.model.save("x")
        """
    ) == [
        (4, "keras.Model.__init__"),
        (5, "keras.layers.Dense"),
        (7, "keras.layers.Dense.__call__"),
        (9, "keras.Model.fit"),
        (12, "tensorflow.nn.relu"),
        (14, "keras.Model.compile"),
        (14, "tensorflow.Tensor.numpy"),
        (14, "keras.Model.__call__"),
        (16, "tensorflow.math.abs"),
        (20, "keras.Model.save"),
    ]


def test_a_data_class_keeps_what_it_is_given(apis_of):
    assert apis_of(
        """
        from dataclasses import dataclass
        import keras
        @dataclass
        class Job:
            model: keras.Model
            epochs: int = 3
        job = Job(keras.Sequential())
        job.model.fit(epochs=job.epochs)
        """
    ) == [(7, "keras.Sequential"), (8, "keras.Sequential.fit")]


def test_methods_on_tensors_through_operators(apis_of):
    assert apis_of(
        """
        import tensorflow as tf
        x = tf.ones(3)
        (x + 1).numpy(); (1 - x)[0].numpy(); (-x).numpy(); (x > 0).numpy(); x.shape.as_list()
        float(x.numpy()).is_integer()
        """
    ) == [
        (2, "tensorflow.ones"),
        *[(3, "tensorflow.Tensor.numpy")] * 4,
        (3, "tensorflow.TensorShape.as_list"),
        (4, "tensorflow.Tensor.numpy"),
    ]


def test_keys_and_quoted_annotations_that_look_like_string_prefixes(apis_of):
    assert apis_of(
        """
        import tensorflow as tf
        parts = {"train": tf.keras.Sequential(), "fast": tf.keras.layers.Dense(1), 'raw': tf.ones(1)}
        parts["train"].fit(); parts["fast"].get_weights(); parts['raw'].numpy()
        def f(*, data: "tf.data.Dataset" = None):
            return data.batch(2)
        models: "list[tf.keras.Model]" = []
        for model in models: model.predict()
        """
    ) == [
        (2, "keras.Sequential"),
        (2, "keras.layers.Dense"),
        (2, "tensorflow.ones"),
        (3, "keras.Sequential.fit"),
        (3, "keras.layers.Dense.get_weights"),
        (3, "tensorflow.Tensor.numpy"),
        (5, "tensorflow.data.Dataset.batch"),
        (7, "keras.Model.predict"),
    ]


def test_containers_filled_in_another_method_and_arrays_of_numpy_functions(apis_of):
    assert apis_of(
        """
        import tensorflow as tf
        class Stack:
            def __init__(self):
                self.layers = []
                self.named = {}
            def fill(self):
                self.layers.append(tf.keras.layers.Dense(1))
                self.named["a"] = tf.keras.layers.Dropout(0.1)
            def run(self, x):
                for layer in self.layers: x = layer(x)
                return self.named["a"](x)
        def plain(array): return array.sum()
        tf.numpy_function(plain, [x], tf.float32)
        """
    ) == [
        (7, "keras.layers.Dense"),
        (8, "keras.layers.Dropout"),
        (10, "keras.layers.Dense.__call__"),
        (11, "keras.layers.Dropout.__call__"),
        (13, "tensorflow.numpy_function"),
    ]


def test_a_method_that_the_promised_class_does_not_have(apis_of):
    """`load_model` gives a model; only a Sequential has `add` and `pop`."""
    assert apis_of(
        """
        import keras
        model = keras.models.load_model("file")
        model.pop(); model.add(keras.layers.Dense(1)); model.fit()
        """
    ) == [
        (2, "keras.saving.load_model"),
        (3, "keras.Sequential.pop"),
        (3, "keras.Sequential.add"),
        (3, "keras.layers.Dense"),
        (3, "keras.Model.fit"),
    ]


def test_an_annotation_says_nothing_of_a_dictionary_that_is_filled(apis_of):
    assert apis_of(
        """
        from typing import Any
        import tensorflow as tf
        table: dict[str, Any] = {name: getattr(tf, name) for name in ("abs", "square")}
        for name, function in table.items(): function(1).numpy()
        """
    ) == [(4, "tensorflow.Tensor.numpy"), (4, "tensorflow.math.abs")]


def test_windows_of_a_dataset_by_key(apis_of):
    assert apis_of(
        """
        import tensorflow as tf
        data = tf.data.Dataset.range(9).group_by_window(
            lambda x: tf.cast(x, tf.int64), lambda key, window: window.batch(2), 4)
        for x in data: x.numpy()
        """
    ) == [
        (2, "tensorflow.data.Dataset.group_by_window"),
        (2, "tensorflow.data.Dataset.range"),
        (3, "tensorflow.cast"),
        (3, "tensorflow.data.Dataset.batch"),
        (4, "tensorflow.Tensor.numpy"),
    ]


def test_a_list_that_is_promised_and_filled(apis_of):
    assert apis_of(
        """
        import keras
        from collections import defaultdict
        class Net:
            def __init__(self):
                self.blocks: list[keras.Layer] = []
                self.others: list[keras.Layer] = []
                self.seen: dict[str, list[keras.Metric]] = defaultdict(list)
                for n in range(3):
                    self.blocks.append(keras.layers.Dense(n))
            def run(self, x):
                for block in self.blocks:
                    x = block(x)
                self.others[0].count_params()
                self.seen["loss"][-1].result()
        """
    ) == [
        (9, "keras.layers.Dense"),
        (12, "keras.layers.Dense.__call__"),
        (13, "keras.Layer.count_params"),
        (14, "keras.Metric.result"),
    ]


def test_what_is_only_iterated_is_unpacked_and_shapes_are_sliced(apis_of):
    assert apis_of(
        """
        import tensorflow as tf
        class Twice:
            def __iter__(self):
                yield tf.ones(1)
                yield tf.ones(2)
        [(x, y)] = tf.data.Dataset.from_tensors((tf.ones(1), tf.ones(2))).take(1)
        y.numpy()
        left, right = Twice()
        right.shape[:-1].concatenate([1])
        manager = tf.train.CheckpointManager(tf.train.Checkpoint(step=tf.Variable(1)), "folder", 3)
        manager.checkpoint.step.assign(2)
        """
    ) == [
        (4, "tensorflow.ones"),
        (5, "tensorflow.ones"),
        (6, "tensorflow.data.Dataset.take"),
        (6, "tensorflow.data.Dataset.from_tensors"),
        (6, "tensorflow.ones"),
        (6, "tensorflow.ones"),
        (7, "tensorflow.Tensor.numpy"),
        (9, "tensorflow.TensorShape.concatenate"),
        (10, "tensorflow.train.CheckpointManager"),
        (10, "tensorflow.train.Checkpoint"),
        (10, "tensorflow.Variable"),
        (11, "tensorflow.Variable.assign"),
    ]


def test_a_generic_base_and_a_member_of_an_enumeration_by_name(apis_of):
    assert apis_of(
        """
        import enum, keras
        from typing import Generic, TypeVar
        M = TypeVar("M", bound=keras.Model)
        class Trainer(Generic[M]):
            def __init__(self, model): self.model = model
        class Own(Trainer[keras.Sequential]): pass
        Own(keras.Sequential()).model.fit()
        class Nets(enum.Enum):
            WIDE = keras.layers.Dense
        Nets["WIDE"](3)
        """
    ) == [(7, "keras.Sequential.fit"), (7, "keras.Sequential"), (10, "keras.layers.Dense")]


def test_of_arguments_nested_deep_the_upper_levels_are_known(apis_of):
    assert apis_of(
        """
        import tensorflow as tf
        params = {"emb": tf.Variable(1.0), "blocks": [{"mlp": [{"w": tf.Variable(2.0)}]}]}
        def update(params):
            params["emb"].assign(1.0)
        update(params)
        """
    ) == [(2, "tensorflow.Variable"), (2, "tensorflow.Variable"), (4, "tensorflow.Variable.assign")]


def test_registries_that_are_dictionaries_and_descriptors_of_the_program(apis_of):
    assert apis_of(
        """
        import collections, keras
        class Registry(dict):
            def register(self, name):
                def keep(build):
                    self[name] = build
                    return build
                return keep
        class Other(collections.UserDict):
            def add(self, name, build):
                self.data[name] = build
        class Lazy:
            def __init__(self, build): self.build = build
            def __get__(self, owner, cls=None): return self.build(owner)
        NETS, OTHERS = Registry(), Other()
        @NETS.register("dense")
        def dense(): return keras.layers.Dense(1)
        OTHERS.add("metric", keras.metrics.Mean)
        class Experiment:
            layer = Lazy(lambda self: NETS["dense"]())
            def run(self):
                self.layer.count_params()
                OTHERS["metric"]().result()
                for name, build in NETS.items():
                    build().get_config()
        """
    ) == [
        (16, "keras.layers.Dense"),
        (21, "keras.layers.Dense.count_params"),
        (22, "keras.metrics.Mean.result"),
        (22, "keras.metrics.Mean"),
        (24, "keras.layers.Dense.get_config"),
    ]


def test_a_comprehension_over_a_few_names_knows_each(calls_of):
    found = calls_of(
        """
        import tensorflow as tf
        acts = {name: getattr(tf.nn, name) for name in ("relu", "tanh")}
        acts["tanh"](1)
        first, second = [function(1) for function in (tf.abs, tf.zeros)]
        """
    )
    assert [(call.api, call.runs.times) for call in found] == [
        ("tensorflow.math.tanh", 1),
        ("tensorflow.math.abs", 2),
    ]


def test_classes_that_a_call_of_type_makes(apis_of):
    assert apis_of(
        """
        import tensorflow as tf
        def shifted(name, base):
            def make(self, shift, **options):
                base.__init__(self, **options)
                self.shift = tf.constant(shift)
            def call(self, x):
                return base.call(self, x - self.shift)
            return type(name, (base,), {"__init__": make, "call": call, "undo": lambda self: self.shift.numpy()})
        Shifted = shifted("Shifted", tf.keras.layers.Dense)
        layer = Shifted(2.0, units=3)
        layer(tf.ones([1, 2]))
        layer.undo()
        layer.get_weights()
        Quiet = type("Quiet", (tf.keras.callbacks.Callback,), {})
        Quiet().set_params({})
        class Own:
            def __call__(self):
                return tf.zeros([])
        for _ in range(9):
            Own = type("Own", (Own,), {})
        """
    ) == [
        (4, "keras.layers.Dense.__init__"),
        (5, "tensorflow.constant"),
        (7, "keras.layers.Dense.call"),
        (8, "tensorflow.Tensor.numpy"),
        (11, "keras.layers.Dense.__call__"),
        (11, "tensorflow.ones"),
        (13, "keras.layers.Dense.get_weights"),
        (15, "keras.callbacks.Callback.set_params"),
        (18, "tensorflow.zeros"),
    ]


def test_a_class_made_by_type_answers_a_call_with_its_own_function(apis_of):
    assert apis_of(
        """
        import tensorflow as tf
        Schedule = tf.keras.optimizers.schedules.LearningRateSchedule
        Half = type("Half", (Schedule,), {"__call__": lambda self, step: 0.5})
        def rate(schedule: Schedule):
            if isinstance(schedule, Schedule):
                schedule.get_config()
                return schedule(1)
        rate(Half())
        """
    ) == [(6, "keras.optimizers.schedules.LearningRateSchedule.get_config")]
