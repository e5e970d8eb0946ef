"""Training steps run one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from energy_code.rule_engine import EAGER, Match, Rule, RuleContext
from energy_code.rule_engine.edits.arguments import with_argument
from energy_code.rule_engine.evidence.common_workloads import training
from energy_code.rule_engine.queries.array_length import rows_of
from energy_code.rule_engine.queries.loops import methods_of

if TYPE_CHECKING:
    from tree_sitter import Node

_SMALL_LAYERS = frozenset(
    {"Dense", "Dropout", "Activation", "Flatten", "Normalization", "BatchNormalization"}
)
_WIDEST = 512
_BATCH = 32
"""Of Keras, where a program says nothing."""
_FEWEST_AN_EPOCH, _FEWEST_A_RUN = 10, 100
"""The first from the rule's own evidence, the second from whole programs, where tracing once counts too."""
_SETTLED = ("steps_per_execution", "run_eagerly", "auto_scale_loss", "jit_compile")


class StepsPerExecution(Rule):
    """Let a small model take several training steps per call.

    `fit` calls the traced step from Python once per batch. A small dense model computes for less time
    than the call takes; `steps_per_execution=8` runs eight batches per call.

    Measured below with 3, 10 and 32 steps an epoch (80, 300 and 1010 rows): 3 gain nothing, 10 and 32 do. So the rule is
    silent where the text tells that an epoch has fewer than 10 steps, or the run fewer than 100.
    In nine whole programs (CPU time of the process, 2 cores) it took 0.92 to 0.95 times the energy for small dense
    models with hundreds of steps, and cost 1.09 times for text, 1.17 for convolutional and 1.25 for recurrent models;
    what tracing costs once stays, so a run of a few steps gains nothing. `energy-lsp tune` tells for a program.

    **Equal when** nobody looks between the batches: callbacks of single batches, and the progress bar,
    then see every eighth. Weights, losses and metrics are the same. A convolutional network gains
    nothing: the rule wants to see a `Sequential` of small dense layers that is trained without callbacks.
    The fix is for review.
    """

    message = "a small model waits for Python between batches: `steps_per_execution=8` takes eight at a time"
    category = "keras"
    examples = (
        (
            'model = keras.Sequential([keras.layers.Dense(32, "relu"), keras.layers.Dense(1)])\n'
            'model.compile(loss="mse")\nmodel.fit(x, y, epochs=10)',
            'model = keras.Sequential([keras.layers.Dense(32, "relu"), keras.layers.Dense(1)])\n'
            'model.compile(loss="mse", steps_per_execution=8)\nmodel.fit(x, y, epochs=10)',
        ),
        (
            "model = keras.Sequential()\n"
            'model.add(keras.layers.Dense(32, "relu"))\n'
            "model.add(keras.layers.Dense(1))\n"
            'model.compile(loss="mse")\nmodel.fit(x, y, epochs=10)',
            "model = keras.Sequential()\n"
            'model.add(keras.layers.Dense(32, "relu"))\n'
            "model.add(keras.layers.Dense(1))\n"
            'model.compile(loss="mse", steps_per_execution=8)\nmodel.fit(x, y, epochs=10)',
        ),
    )
    leave_alone = (
        "model = keras.Sequential([keras.layers.Conv2D(32, 3), keras.layers.Dense(1)])\n"
        'model.compile(loss="mse")\nmodel.fit(x, y, epochs=10)',
        "model = keras.Sequential()\n"
        "model.add(keras.layers.Conv2D(32, 3))\n"
        "model.add(keras.layers.Dense(1))\n"
        'model.compile(loss="mse")\nmodel.fit(x, y, epochs=10)',
        "model = keras.Sequential([keras.layers.Dense(4096), keras.layers.Dense(1)])\n"
        'model.compile(loss="mse")\nmodel.fit(x, y, epochs=10)',
        "model = keras.Sequential([keras.layers.Dense(32), keras.layers.Dense(1)])\n"
        'model.compile(loss="mse")\nmodel.fit(x, y, callbacks=[watch])',
        "model = keras.Sequential([keras.layers.Dense(32), keras.layers.Dense(1)])\n"
        'model.compile(loss="mse", steps_per_execution=4)\nmodel.fit(x, y)',
        "model = keras.Sequential([keras.layers.Dense(32), keras.layers.Dense(1)])\n"
        'model.compile(loss="mse")\nloss = model.train_on_batch(x, y)',
        "x = tf.zeros([80, 16])\nmodel = keras.Sequential([keras.layers.Dense(32), keras.layers.Dense(1)])\n"
        'model.compile(loss="mse")\nmodel.fit(x, y, epochs=100)',
        "x = np.random.rand(1000, 16).astype('float32')\n"
        "model = keras.Sequential([keras.layers.Dense(32), keras.layers.Dense(1)])\n"
        'model.compile(loss="mse")\nmodel.fit(x, y, batch_size=500, epochs=100)',
        "x = tf.zeros([1000, 16])\nmodel = keras.Sequential([keras.layers.Dense(32), keras.layers.Dense(1)])\n"
        'model.compile(loss="mse")\nmodel.fit(x, y, epochs=2)',
    )
    workload = training(
        "return one.fit(x, y, shuffle=False, verbose=0).history['loss']",
        (80, 300, 1010),
        after="return other.fit(x, y, shuffle=False, verbose=0).history['loss']",
        other="model(steps_per_execution=8)",
    )
    safety = "review"
    modes = EAGER
    tracing_stays = True
    around_model = True
    apis = ("keras.Model.compile",)

    def look(self, place: RuleContext) -> Iterator[Match]:
        """A model of small dense layers, trained by `fit` in the same scope with nothing between batches."""
        model, arguments = place.receiver(place.node), place.node.child_by_field_name("arguments")
        if model is None or arguments is None or model.type != "identifier":
            return
        if any(word in place.text(arguments) for word in _SETTLED) or "**" in place.text(arguments):
            return
        fits = methods_of(place, model, "fit")
        if (
            not fits
            or any(_watched(place, call) for call in fits)
            or methods_of(place, model, "train_on_batch")
        ):
            return
        if all(_is_short(place, call) for call in fits):
            return
        if place.in_test(place.node) or not _is_small(place, model):
            return
        edit = with_argument(arguments, "steps_per_execution=8")
        yield Match(place.node, edits=lambda: [edit], related=fits[:1])


def _watched(place: RuleContext, call: Node) -> bool:
    arguments = call.child_by_field_name("arguments")
    return arguments is None or any(word in place.text(arguments) for word in ("callbacks", "steps", "**"))


def _is_short(place: RuleContext, call: Node) -> bool:
    """Whether the text tells that there are too few steps to gain from, in an epoch or in the run."""
    data = place.argument(call, "x", 0)
    rows = rows_of(place, data) if data is not None else None
    batch, epochs = (
        _whole(place, place.argument(call, name, at), default)
        for name, at, default in (("batch_size", 2, _BATCH), ("epochs", 3, 1))
    )
    if rows is None or batch is None:
        return False
    steps = -(-rows // batch)
    times = None if place.loop(call) is not None else epochs
    return steps < _FEWEST_AN_EPOCH or (times is not None and steps * times < _FEWEST_A_RUN)


def _whole(place: RuleContext, node: Node | None, default: int) -> int | None:
    value = default if node is None else place.constant(place.value(node))
    return value if isinstance(value, int) and value > 0 else None


def _is_small(place: RuleContext, model: Node) -> bool:
    """Whether a name is that of a `Sequential` of small layers: listed, or added one after the other."""
    made = place.value(model)
    if place.api(made) != "keras.Sequential":
        return False
    listed = place.argument(made, "layers", 0)
    if listed is not None and listed.type != "list":
        return False
    layers: list[Node | None] = []
    if listed is not None:
        layers += [one for one in listed.named_children if one.type != "comment"]
    layers += [place.argument(call, "layer", 0) for call in methods_of(place, model, "add")]
    return bool(layers) and all(one is not None and _is_small_layer(place, one) for one in layers)


def _is_small_layer(place: RuleContext, layer: Node) -> bool:
    api = place.api(layer) or ""
    kind = api.rpartition(".")[2]
    if kind in ("Input", "InputLayer"):
        return True
    if kind not in _SMALL_LAYERS or not api.startswith("keras."):
        return False
    units = place.argument(layer, "units", 0) if kind == "Dense" else None
    width = place.constant(place.value(units)) if units is not None else 0
    return isinstance(width, int) and width <= _WIDEST
