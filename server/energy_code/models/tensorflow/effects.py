"""What single APIs do beyond returning what the catalogue says: they run functions, keep structures, set attributes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from energy_code.interpreter.domain.arguments import Arguments
from energy_code.interpreter.domain.lattice import join_all
from energy_code.interpreter.domain.values import (
    KERAS_TENSOR,
    NONE,
    TENSOR,
    TENSOR_VALUE,
    UNKNOWN,
    ApiClass,
    ApiInstance,
    Constant,
    ExternalInstance,
    Mapping,
    Sequence,
    Union,
    Value,
    options_of,
)
from energy_code.interpreter.operations.iteration import RESTORED
from energy_code.interpreter.operations.side_effects import note_attribute
from energy_code.ir.expressions import Attribute, Name
from energy_code.models.tensorflow.api_call import ApiCall
from energy_code.models.tensorflow.callbacks import (
    CALLABLES,
    call_with_tensors,
    is_callable_of_user,
    mark,
    wrap_in_graph,
)
from energy_code.models.tensorflow.control_flow import branches, while_loop
from energy_code.models.tensorflow.datasets import DATASET, dataset_effect
from energy_code.models.tensorflow.example_parsing import parse_example, parse_sequence_example

if TYPE_CHECKING:
    from energy_code.interpreter.frame import Frame
    from energy_code.ir.code import CallSite

STRATEGY = "tensorflow.distribute.Strategy"
SYMBOLIC = frozenset(["keras.layers.Input", "keras.Input"])
TENSOR_CALLBACKS = frozenset(
    [
        "tensorflow.map_fn",
        "tensorflow.vectorized_map",
        "tensorflow.foldl",
        "tensorflow.foldr",
        "tensorflow.scan",
        "keras.layers.Lambda",
        "keras.ops.map",
        "keras.ops.scan",
        "keras.ops.vectorized_map",
        "keras.ops.fori_loop",
        "tensorflow.custom_gradient",
        "tensorflow.recompute_grad",
        "tensorflow.grad_pass_through",
        "keras.ops.custom_gradient",
        "keras.remat",
        "tensorflow.py_function",
    ]
)
"""They call a function with tensors (`numpy_function` gives arrays, so it is not among them)."""
DECORATORS = frozenset(["tensorflow.numpy_function", "tensorflow.py_function"])
EAGER_CALLBACKS = frozenset(["tensorflow.py_function"])
KEPT_FUNCTIONS = frozenset(
    [
        "tensorflow.custom_gradient",
        "tensorflow.recompute_grad",
        "tensorflow.grad_pass_through",
        "tensorflow.autograph.to_graph",
        "keras.ops.custom_gradient",
        "keras.remat",
    ]
)
OPTIMIZER_MODULE = "keras.optimizers"
OPTIMIZERS = {
    "adam": "Adam",
    "adamw": "AdamW",
    "adamax": "Adamax",
    "adagrad": "Adagrad",
    "adadelta": "Adadelta",
    "sgd": "SGD",
    "rmsprop": "RMSprop",
    "nadam": "Nadam",
    "ftrl": "Ftrl",
    "lion": "Lion",
}


Effect = Callable[["Frame", ApiCall], Value]


def effect_of(frame: Frame, api: str) -> Effect | None:
    """The effect of an API; None for the many that have none."""
    found = EFFECTS.get(api)
    if found is not None:
        return found
    if api in SYMBOLIC:
        return symbolic_input
    if api in TENSOR_CALLBACKS:
        return run_callbacks
    owner, _, name = api.rpartition(".")
    catalogue = frame.program.public.catalogue
    if name in MODEL_EFFECTS and catalogue.is_subclass(owner, "keras.Model"):
        return MODEL_EFFECTS[name]
    if owner == DATASET or catalogue.is_subclass(owner, DATASET):
        return dataset
    if name == "run" and catalogue.is_subclass(owner, STRATEGY):
        return run_on_replicas
    if name.startswith("experimental_distribute_dataset"):
        return same_dataset
    if name.endswith(("_datasets_from_function", "_values_from_function")):
        return call_with_context
    if name == "preprocess_input":
        return same_tensor
    return None


def after_api_call(
    frame: Frame,
    api: str,
    receiver: Value | None,
    arguments: Arguments,
    result: Value,
    site: CallSite | None,
) -> Value:
    """What an API call gives, its effects included."""
    effects = frame.program.public.effects
    if api not in effects:
        effects[api] = effect_of(frame, api)
    effect = effects[api]
    if effect is not None:
        result = effect(frame, ApiCall(api, receiver, arguments, result, site))
    if type(result) is ApiInstance and result.cls == TENSOR and has_symbolic(arguments):
        return ApiInstance(KERAS_TENSOR)
    return result


def has_symbolic(arguments: Arguments) -> bool:
    """True when an argument is a symbolic tensor, alone or in a list."""
    for values in (arguments.positional, arguments.keywords.values()):
        for value in values:
            if type(value) in MAYBE_SYMBOLIC and is_symbolic(value):
                return True
    return False


MAYBE_SYMBOLIC = frozenset([ApiInstance, Union, Sequence])


def is_symbolic(value: Value) -> bool:
    """A symbolic tensor, or a sequence that starts with one."""
    for option in options_of(value):
        if type(option) is ApiInstance and option.cls == KERAS_TENSOR:
            return True
        if type(option) is Sequence and option.items and type(option.items[0]) is ApiInstance:
            return option.items[0].cls == KERAS_TENSOR
    return False


def graph_function(frame: Frame, call: ApiCall) -> Value:
    """`tf.function(f, ...)`, or `tf.function(...)` that waits for its function."""
    jit = call.arguments.keywords.get("jit_compile", NONE)
    function = call.arguments.get(0, "func")
    if function is None or function == NONE:
        return ExternalInstance("graph decorator", jit)
    return wrap_in_graph(frame, function, jit)


def symbolic_input(frame: Frame, call: ApiCall) -> Value:
    """`keras.Input` gives a symbolic tensor."""
    return ApiInstance(KERAS_TENSOR)


def run_callbacks(frame: Frame, call: ApiCall) -> Value:
    """Functions that TensorFlow calls with tensors."""
    if call.api in DECORATORS and call.arguments.get(0, "func") is None:  # it waits for its function
        return ExternalInstance("gives", ExternalInstance("gives", TENSOR_VALUE))
    values = list(call.arguments.all())
    for value in list(values):
        if type(value) is Sequence and value.items:
            values.extend(value.items)
    for value in values:
        if type(value) in CALLABLES and is_callable_of_user(value):
            call_with_tensors(frame, value)
            if call.api not in EAGER_CALLBACKS:
                mark(frame, value, "graph")
            if call.api in KEPT_FUNCTIONS:
                return value
    return call.result


def array_function(frame: Frame, call: ApiCall) -> Value:
    """`tf.numpy_function` calls its function with arrays, of which nothing is known."""
    return run_callbacks(frame, call) if call.arguments.get(0, "func") is None else call.result


def dataset(frame: Frame, call: ApiCall) -> Value:
    """Methods of datasets."""
    name = call.api.rpartition(".")[2]
    return dataset_effect(frame, name, call.receiver, call.arguments, call.result)


def run_on_replicas(frame: Frame, call: ApiCall) -> Value:
    """`strategy.run(f, args=(a, b))` calls f."""

    function = call.arguments.get(0, "fn") or UNKNOWN
    given = call.arguments.get(1, "args")
    positional = list(given.items) if type(given) is Sequence and given.items is not None else []
    return frame.call(function, Arguments(positional, {}, given is None or bool(positional)), None)


def call_with_context(frame: Frame, call: ApiCall) -> Value:
    """`strategy.distribute_datasets_from_function(f)` calls f with what it is to know of its place."""

    function = call.arguments.get(0, "dataset_fn") or call.arguments.get(0, "value_fn") or UNKNOWN
    kind = "Value" if "values_from" in call.api else "Input"
    context = ApiInstance(f"tensorflow.distribute.{kind}Context")
    given = frame.call(function, Arguments([context], {}, True), None)
    return given if given is not UNKNOWN else call.result


def same_dataset(frame: Frame, call: ApiCall) -> Value:
    """A distributed dataset is iterated like the one it was made of."""
    return call.arguments.get(0, "dataset") or UNKNOWN


def gradient_like(frame: Frame, call: ApiCall) -> Value:
    """Gradients come in the structure of the sources."""
    sources = call.arguments.get(1, "sources")
    if type(sources) is Sequence and sources.items is not None:
        return Sequence("list", tuple(TENSOR_VALUE for _ in sources.items))
    if type(sources) is ApiInstance and sources.cls in ("tensorflow.Variable", TENSOR):
        return TENSOR_VALUE
    return Sequence("list", None, TENSOR_VALUE)


def keep_keywords(frame: Frame, call: ApiCall) -> Value:
    """`tf.train.Checkpoint(step=x)`: keywords become attributes."""
    items = tuple((Constant(name), value) for name, value in call.arguments.keywords.items())
    return ApiInstance(call.api, 1.0, Mapping(items))


def keep_checkpoint(frame: Frame, call: ApiCall) -> Value:
    """`tf.train.CheckpointManager(checkpoint, ...)` hands its checkpoint out again."""
    checkpoint = call.arguments.get(0, "checkpoint") or UNKNOWN
    return ApiInstance(call.api, 1.0, Mapping(((Constant("checkpoint"), checkpoint),)))


def identified(frame: Frame, call: ApiCall) -> Value:
    """`activations.get("relu")`: a text names the function or the class, anything else is handed back."""
    found = [
        meant(frame, call, option) for option in options_of(call.arguments.get(0, "identifier") or UNKNOWN)
    ]
    return join_all(tuple(found))


def meant(frame: Frame, call: ApiCall, identifier: Value) -> Value:
    """What one identifier stands for."""
    if type(identifier) is Mapping or identifier is UNKNOWN:
        return call.result
    if type(identifier) is not Constant:
        return identifier
    text = identifier.value
    if type(text) is not str or not text:
        return call.result
    owner = call.api.rpartition(".")[0]
    value = frame.program.public.module_member(
        owner, OPTIMIZERS.get(text.lower(), text) if owner == OPTIMIZER_MODULE else text
    )
    if type(value) is ApiClass:
        return ApiInstance(value.name)
    return value if value is not UNKNOWN else call.result


def same_class(frame: Frame, call: ApiCall) -> Value:
    """`clone_model(m)` gives a model of the same class."""
    value = call.arguments.get(0, "model")
    return value if type(value) is ApiInstance else call.result


def same_tensor(frame: Frame, call: ApiCall) -> Value:
    """`preprocess_input(x)` gives a tensor for a tensor, an array for an array."""
    value = call.arguments.get(0, "x") or UNKNOWN
    return value if type(value) is ApiInstance else call.result


def sequential(frame: Frame, call: ApiCall) -> Value:
    """`Sequential([...])` knows its layers; what says its input is not one of them."""
    layers = call.arguments.get(0, "layers")
    if type(layers) is not Sequence:
        return call.result
    items = layers.items and tuple(item for item in layers.items if not is_input(item))
    return ApiInstance(call.api, 1.0, Sequence("list", items, layers.element))


def is_input(value: Value) -> bool:
    """True for `keras.Input(...)` and `InputLayer(...)`."""
    return type(value) is ApiInstance and value.cls in (KERAS_TENSOR, "keras.layers.InputLayer")


def compile_model(frame: Frame, call: ApiCall) -> Value:
    """`compile(optimizer=..., loss=...)`: the model's optimizer and loss are known from then on."""

    loss = call.arguments.get(1, "loss")
    if loss is not None and call.receiver is not None:
        note_attribute(frame, call.receiver, "loss", loss)
    optimizer = call.arguments.get(0, "optimizer")
    if type(optimizer) is Constant and type(optimizer.value) is str and optimizer.value.lower() in OPTIMIZERS:
        optimizer = ApiInstance(f"{OPTIMIZER_MODULE}.{OPTIMIZERS[optimizer.value.lower()]}")
    if optimizer is None or type(optimizer) is Constant or optimizer is UNKNOWN:
        return call.result
    if call.receiver is not None:
        note_attribute(frame, call.receiver, "optimizer", optimizer)
    site = call.site
    if site is not None and type(site.function) is Attribute and type(site.function.value) is Name:
        frame.slots[site.function.value.id, "optimizer"] = optimizer
    return call.result


def train(frame: Frame, call: ApiCall) -> Value:
    """`fit(callbacks=[...])`: the program's own callbacks work on this model."""
    callbacks = call.arguments.keywords.get("callbacks", UNKNOWN)
    if call.receiver is not None:
        listed = frame.iterate(callbacks) if type(callbacks) is Sequence else callbacks
        note_attribute(frame, listed, "model", call.receiver)
    return call.result


def restored(frame: Frame, call: ApiCall) -> Value:
    """`saved_model.load(...)`: what is in it is not known, but its functions give tensors."""
    return ExternalInstance(RESTORED, TENSOR_VALUE)


def next_element(frame: Frame, call: ApiCall) -> Value:
    """`iterator.get_next()`."""
    if type(call.receiver) is ApiInstance and call.receiver.inner is not None:
        return call.receiver.inner
    return TENSOR_VALUE


def map_structure(frame: Frame, call: ApiCall) -> Value:
    """`tf.nest.map_structure(f, a, b)` calls f with the leaves, and keeps the structure of a."""
    function, *structures = call.arguments.positional or [UNKNOWN]
    return mapped(frame, function, structures) if structures else call.result


def mapped(frame: Frame, function: Value, structures: list[Value]) -> Value:
    """One level of the structure."""

    first = structures[0]
    if type(first) is Sequence and first.items is not None:
        rows = [[frame.index(other, Constant(i)) for other in structures] for i in range(len(first.items))]
        return Sequence(first.kind, tuple(mapped(frame, function, row) for row in rows))
    if type(first) is Mapping and first.items:
        columns = [[frame.index(other, key) for other in structures] for key, _ in first.items]
        values = [mapped(frame, function, column) for column in columns]
        return Mapping(tuple(zip((key for key, _ in first.items), values, strict=True)))
    if type(first) is Sequence:
        return Sequence(first.kind, None, mapped(frame, function, [frame.iterate(s) for s in structures]))
    return frame.call(function, Arguments(structures, {}, True), None)


IDENTIFIED = ("activations", "constraints", "initializers", "losses", "metrics", "optimizers", "regularizers")
MODEL_EFFECTS: dict[str, Effect] = {
    "compile": compile_model,
    "evaluate": train,
    "fit": train,
    "predict": train,
}
EFFECTS: dict[str, Effect] = {
    "tensorflow.function": graph_function,
    "tensorflow.saved_model.load": restored,
    "tensorflow.GradientTape.gradient": gradient_like,
    "tensorflow.numpy_function": array_function,
    "tensorflow.io.parse_example": parse_example,
    "tensorflow.io.parse_single_example": parse_example,
    "tensorflow.io.parse_sequence_example": parse_sequence_example,
    "tensorflow.io.parse_single_sequence_example": parse_sequence_example,
    **{f"{library}.while_loop": while_loop for library in ("tensorflow", "keras.ops")},
    **{f"{library}.cond": branches for library in ("tensorflow", "keras.ops")},
    **{f"tensorflow.{name}": branches for name in ("case", "switch_case")},
    "keras.ops.switch": branches,
    "tensorflow.train.Checkpoint": keep_keywords,
    "tensorflow.train.CheckpointManager": keep_checkpoint,
    "keras.models.clone_model": same_class,
    "tensorflow.nest.map_structure": map_structure,
    "keras.tree.map_structure": map_structure,
    "keras.Sequential": sequential,
    **{f"keras.{kind}.get": identified for kind in IDENTIFIED},
    "tensorflow.data.Iterator.get_next": next_element,
}
