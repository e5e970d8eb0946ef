"""`match`: what patterns say of the subject and bind names to."""

from __future__ import annotations


def test_a_class_pattern_says_what_the_subject_is(apis_of):
    assert apis_of(
        """
        import keras
        def describe(thing):
            match thing:
                case keras.Sequential(layers=[first, *rest]) as model:
                    model.summary(); thing.count_params()
                case keras.layers.Dense() | keras.layers.Conv2D():
                    thing.get_config()
                case {"metric": keras.Metric() as metric, **others}:
                    metric.result()
                case [keras.Optimizer() as optimizer, _]:
                    optimizer.apply([])
                case other:
                    other.fit()
        """
    ) == [
        (5, "keras.Sequential.summary"),
        (5, "keras.Sequential.count_params"),
        (7, "keras.layers.Dense.get_config"),
        (9, "keras.Metric.result"),
        (11, "keras.Optimizer.apply"),
    ]


def test_patterns_take_a_known_subject_apart(apis_of):
    assert apis_of(
        """
        import keras, tensorflow as tf
        from dataclasses import dataclass
        @dataclass
        class Pair:
            left: object
            right: object
        match Pair(keras.layers.Dense(1), tf.ones(2)):
            case Pair(layer, right=tensor):
                layer.count_params(); tensor.numpy()
        match {"net": keras.Sequential(), "data": (tf.ones(3), tf.eye(2))}:
            case {"net": net, "data": (x, y)}:
                net.fit(x.numpy(), y.numpy())
        """
    ) == [
        (7, "keras.layers.Dense"),
        (7, "tensorflow.ones"),
        (9, "keras.layers.Dense.count_params"),
        (9, "tensorflow.Tensor.numpy"),
        (10, "keras.Sequential"),
        (10, "tensorflow.ones"),
        (10, "tensorflow.eye"),
        (12, "keras.Sequential.fit"),
        (12, "tensorflow.Tensor.numpy"),
        (12, "tensorflow.Tensor.numpy"),
    ]


def test_a_constant_subject_picks_its_case(apis_of):
    assert apis_of(
        """
        import keras
        def make(name, level):
            match name:
                case "sgd":
                    optimizer = keras.optimizers.SGD()
                case "adam" | "default":
                    optimizer = keras.optimizers.Adam()
                case _:
                    optimizer = None
            match level:
                case -1 | 1:
                    optimizer.apply([])
            return optimizer
        make("default", 1).apply_gradients([])
        """
    ) == [
        (5, "keras.optimizers.SGD"),
        (7, "keras.optimizers.Adam"),
        (12, "keras.optimizers.Adam.apply"),
        (14, "keras.optimizers.Adam.apply_gradients"),
    ]


def test_the_subject_is_as_before_behind_the_match(apis_of):
    assert apis_of(
        """
        import keras
        layer = keras.layers.Conv2D(1, 2)
        match layer:
            case keras.layers.Dense():
                layer.get_config()
        layer.build()
        """
    ) == [
        (2, "keras.layers.Conv2D"),
        (5, "keras.layers.Dense.get_config"),
        (6, "keras.layers.Conv2D.build"),
    ]


def test_patterns_nested_without_end(apis_of):
    deep = "[" * 3000 + "]" * 3000
    assert apis_of(f"import keras\nmatch 1:\n    case {deep}:\n        keras.Sequential()\nkeras.Input()\n")[
        -1
    ] == (5, "keras.layers.Input")
