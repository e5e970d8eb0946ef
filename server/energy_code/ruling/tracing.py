"""Code that runs as a graph though no `tf.function` is in sight: eager-only rules are silent there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from energy_code.ruling.loops import calls_of, mentions
from energy_code.ruling.pattern import catalogue, same_api
from energy_code.ruling.place import descend

if TYPE_CHECKING:
    from tree_sitter import Node

    from energy_code.ruling.place import Place

_EAGER_OFF = (b"disable_v2_behavior(", b"disable_eager_execution(")
_TRACED = (
    "keras.Loss",
    "keras.Metric",
    "keras.Optimizer",
    "keras.Layer",
    "keras.constraints.Constraint",
    "keras.regularizers.Regularizer",
    "keras.initializers.Initializer",
    "keras.optimizers.schedules.LearningRateSchedule",
)
_ONCE = frozenset({"__init__", "build", "get_config", "from_config"})
"""Methods that run once for each object."""
_EAGER_METHODS = _ONCE | {"reset_state", "reset_states"}
_TELLING = (
    b"def call(",
    b"def get_config(",
    b"def train_step(",
    b"def update_state(",
    b"def _resource_apply_dense(",
)
"""Methods that tell an object of Keras though its base class is in another file."""
_TRACERS = tuple(
    (name, f"{name}(".encode()) for name in ("compile", "jit", "maximize", "minimize", "optimize")
)
"""Functions of libraries that trace the function they are given."""
_KERAS_ITSELF = b"from keras.src"
_MODULES = ("loss", "augment")
"""Modules that are written for training steps and pipelines, which trace them."""
_CALLERS = 4
"""How many callers up to look."""


def traced_elsewhere(place: Place) -> bool:
    """Whether the file switches eager execution off, or a library traces the function around."""
    if any(map(place.shared.has, _EAGER_OFF)):
        return True
    function = place.function(place.node)
    if function is None:
        return False
    if place.shared.has(_KERAS_ITSELF) or place.in_with(place.node, b"name_scope("):
        return True  # what Keras is made of runs within its compiled steps; graphs alone have named parts
    path = place.analysis.document.path
    if path is not None and any(word in path.stem for word in _MODULES):
        return True
    known = place.shared.traced_functions
    if function.id not in known:
        known[function.id] = _is_traced(place, function, _CALLERS)
    return known[function.id]


def _is_traced(place: Place, function: Node, depth: int) -> bool:
    around: Node | None = function
    while around is not None:
        if _method_of_keras(place, around) or _handed_to_a_tracer(place, around):
            return True
        around = place.function(around)
    name = function.child_by_field_name("name")
    if depth == 0 or name is None or _holder(function) is not None:
        return False
    calls = calls_of(place, place.text(name))
    callers = map(place.function, calls)
    return bool(calls) and all(
        caller is not None and caller != function and _is_traced(place, caller, depth - 1)
        for caller in callers
    )


def runs_once(place: Place) -> bool:
    """Whether the place makes or initialises a layer, model, loss…: there is nothing to save there."""
    innermost = place.function(place.node)
    if innermost is None:
        return False
    known = place.shared.run_once
    if innermost.id not in known:
        known[innermost.id] = _runs_once(place, innermost)
    return known[innermost.id]


def _runs_once(place: Place, function: Node | None) -> bool:
    once = False
    while function is not None:
        name = function.child_by_field_name("name")
        called = place.text(name) if name is not None else ""
        once = once or called in _ONCE or "init" in called
        holder = _holder(function) if once else None
        if holder is not None and _is_of_keras(place, holder):
            return True
        function = place.function(function)
    return False


def _method_of_keras(place: Place, function: Node) -> bool:
    """Whether Keras calls the method within its training step."""
    holder, name = _holder(function), function.child_by_field_name("name")
    if holder is None or name is None or place.text(name) in _EAGER_METHODS:
        return False
    return _is_of_keras(place, holder)


def _is_of_keras(place: Place, holder: Node) -> bool:
    """Whether a class derives from one that Keras traces; a base out of sight is told by the methods."""
    listed = holder.child_by_field_name("superclasses")
    bases = [_apis(place, base) for base in listed.named_children] if listed is not None else []
    known = catalogue()
    if any(api == kind or known.is_subclass(api, kind) for apis in bases for api in apis for kind in _TRACED):
        return True
    text = place.analysis.source[holder.start_byte : holder.end_byte]
    return not all(bases) and any(method in text for method in _TELLING)


def _holder(function: Node) -> Node | None:
    """The class that a method belongs to."""
    holder = function.parent
    while holder is not None and holder.type in ("block", "decorated_definition"):
        holder = holder.parent
    return holder if holder is not None and holder.type == "class_definition" else None


def _apis(place: Place, base: Node) -> Sequence[str]:
    """The public classes behind a base class, the program's own classes between them followed."""
    api = place.analysis.api_of(base)
    if api is not None:
        return [api]
    own = place.analysis.user_class(base)
    if own is None:
        return []
    place.shared.looked_outside = True
    return place.analysis.engine.api_bases(own)


def _handed_to_a_tracer(place: Place, function: Node) -> bool:
    """Whether Keras, or a library that is not followed, gets the function to compile or to minimise it."""
    name = function.child_by_field_name("name")
    tracers = [tracer for tracer, call in _TRACERS if place.shared.has(call)]
    if name is None or not tracers:
        return False
    place.shared.looked_outside = True
    callees = (callee for tracer in tracers for callee in mentions(place, tracer, "("))
    return any(_is_given(place, callee, place.text(name)) for callee in callees)


def _is_given(place: Place, callee: Node, name: str) -> bool:
    """Whether a tracer is given a name."""
    call = callee.parent
    if call is not None and call.type == "attribute":
        call = call.parent
    arguments = call.child_by_field_name("arguments") if call is not None and call.type == "call" else None
    if arguments is None or name not in place.text(arguments):
        return False
    api = place.api(call)
    if api is not None and not same_api(api, "keras.Model.compile"):
        return False
    return any(place.text(given) == name for given in descend(arguments, "identifier"))
