"""Python inside a pipeline."""

from __future__ import annotations

from collections.abc import Iterator

from energy_code.rule_engine import Match, Rule, RuleContext, Workload
from energy_code.rule_engine.context import descend
from energy_code.rule_engine.queries.loops import definition


class PyFunction(Rule):
    """Write the functions of a pipeline in TensorFlow.

    `tf.py_function` and `tf.numpy_function` leave the graph for every element, wait for Python's lock,
    and copy data both ways. TensorFlow's own operations run in parallel and in place.

    **Equal when** the NumPy functions have counterparts in TensorFlow, as those of plain arithmetic do.
    The rule speaks up only where it sees a function of NumPy arithmetic; translating it is yours.
    """

    message = "this function is NumPy arithmetic: as TensorFlow operations it would run without Python's lock"
    category = "pipeline"
    reports = (
        "def scale(x):\n    return np.sqrt(x) / 255.0\n\n\n"
        "def load(x):\n    return tf.numpy_function(scale, [x], tf.float32)",
        "def load(x):\n    return tf.py_function(lambda a: np.abs(a) + 1, [x], tf.float32)",
    )
    leave_alone = (
        "def load(path):\n    return tf.py_function(read, [path], tf.float32)",
        "def read(p):\n    return np.load(p)\n\n\n"
        "def load(path):\n    return tf.numpy_function(read, [path], tf.float32)",
    )
    workload = Workload(
        """
        made = ds.map(lambda a: tf.numpy_function(lambda v: np.sqrt(v) / 255.0, [a], tf.float32))
        return list(made.batch(256).as_numpy_iterator())
        """,
        {"ds": "tf.data.Dataset.from_tensor_slices(rng.random(size=(n, 64)).astype('float32'))"},
        {"n": (64, 256, 1024)},
        after="list(ds.map(lambda a: tf.sqrt(a) / 255.0).batch(256).as_numpy_iterator())",
        tolerance=1e-6,
        graph=False,
        vary=False,
    )
    safety = "none"
    apis = ("tf.py_function", "tf.numpy_function")

    def look(self, place: RuleContext) -> Iterator[Match]:
        """A function in this file whose every call is NumPy arithmetic."""
        function = place.argument(place.node, "func", 0)
        if function is not None and function.type == "identifier":
            function = definition(place, place.text(function))
        if function is None or function.type not in ("lambda", "function_definition"):
            return
        alias = place.module_alias("numpy")
        inner = function.child_by_field_name("body")
        if alias is None or inner is None:
            return
        calls = [*descend(inner, "call"), *([inner] if inner.type == "call" else [])]
        names = [
            place.text(called)
            for call in calls
            if (called := call.child_by_field_name("function")) is not None
        ]
        if names and all(name in {f"{alias}.{plain}" for plain in _ARITHMETIC} for name in names):
            yield Match(place.node)


_ARITHMETIC = [
    "abs",
    "add",
    "clip",
    "cos",
    "divide",
    "exp",
    "expand_dims",
    "flip",
    "log",
    "log1p",
    "maximum",
    "max",
    "mean",
    "minimum",
    "min",
    "multiply",
    "power",
    "reshape",
    "sin",
    "sqrt",
    "square",
    "subtract",
    "sum",
    "tanh",
    "transpose",
    "where",
]
