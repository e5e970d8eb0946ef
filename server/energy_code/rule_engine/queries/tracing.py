"""Code that runs as a graph though no `tf.function` is in sight: eager-only rules are silent there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from energy_code.rule_engine.context import descend
from energy_code.rule_engine.patterns.pattern import catalogue, same_api
from energy_code.rule_engine.queries.loops import calls_of, mentions

if TYPE_CHECKING:
    from tree_sitter import Node

    from energy_code.rule_engine.context import RuleContext

_GRAPHS_ALONE = frozenset(
    {
        "disable_v2_behavior",
        "disable_eager_execution",
        "placeholder",
        "variable_scope",
        "get_variable",
        "test_session",
        "gradients",
        "Session",
        "InteractiveSession",
    }
)
"""APIs of code for graphs: they switch eager execution off, or mean something in graphs alone."""
_SIGNS_OF_GRAPHS = (
    b"Session(",
    b"disable_",
    b"placeholder(",
    b".gradients(",
    b"_session(",
    b"get_variable(",
    b"variable_scope(",
)
"""One of these is written where those are called."""
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
_CONDITIONS = frozenset({"if_statement", "conditional_expression", "lambda"})
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
_TRACER_WORDS = frozenset(name.encode() for name, _ in _TRACERS)
_HANDING = frozenset(
    {"argument_list", "keyword_argument", "return_statement", "list", "tuple", "pair", "expression_list"}
)
"""What a name stands in that is not called but given away."""
_KERAS_ITSELF = b"from keras.src"
_MODULES = ("loss", "augment")
"""Modules that are written for training steps and pipelines, which trace them: asked where no call is in sight."""
CALLERS = 4
"""How many callers up to look."""


def traced_elsewhere(place: RuleContext) -> bool:
    """Whether the file is written for graphs, or a library traces the function around."""
    if place.shared.for_graphs is None:
        place.shared.for_graphs = _is_for_graphs(place)
    place.shared.looked_anywhere |= place.shared.graph_signs
    if place.shared.for_graphs:
        return True
    function = place.function(place.node)
    if function is None:
        return False
    if place.shared.has(_KERAS_ITSELF) or place.in_with(place.node, b"name_scope("):
        return True  # what Keras is made of runs within its compiled steps; graphs alone have named parts
    known = place.shared.traced_functions
    if function.id not in known:
        shown = _is_traced(place, function, CALLERS)
        known[function.id] = _is_written_for_training(place) if shown is None else shown
    return known[function.id]


def _is_for_graphs(place: RuleContext) -> bool:
    """Whether a file builds graphs and runs them in sessions, or knows TensorFlow as that of version 1 alone."""
    if any(map(place.shared.has, _SIGNS_OF_GRAPHS)):
        place.shared.graph_signs = True
        apis = (found[3].api for found in place.analysis.calls().reached)
        if any(api.rpartition(".")[2] in _GRAPHS_ALONE for api in apis):
            return True
    others = ("tensorflow", "tensorflow.compat.v2")
    return place.module_alias("tensorflow.compat.v1") is not None and not any(map(place.module_alias, others))


def _is_traced(place: RuleContext, function: Node, depth: int) -> bool | None:
    """Whether a function runs within a graph alone, not eagerly as well; None when no call is in sight."""
    around = [function, *place.functions_around(function)]
    if any(_method_of_keras(place, one) for one in around):
        return True
    calls = calls_of(place, function) if holder_of(place, function) is None else []
    shown: list[bool | None] = []
    callers = [place.function(call) for call in calls] if depth else []
    # Each is asked once, however often it calls: else the work grows with a power of that.
    for caller in {None if one is None else one.id: one for one in callers}.values():
        shown.append(False if caller is None else _is_traced(place, caller, depth - 1))
        if shown[-1] is False:
            return False
    if any(_handed_to_a_tracer(place, one) for one in around):
        return True
    if not calls and _is_handed_on(place, function):
        return True
    return True if shown and all(shown) else None


def _is_handed_on(place: RuleContext, function: Node) -> bool:
    """Whether the file only gives a function away, and nobody shows that it is called eagerly: frameworks trace."""
    scope, name = place.scope(function), _name_of(place, function)
    handed = (
        use.parent for use in mentions(place, name) if scope.start_byte <= use.start_byte < scope.end_byte
    )
    return any(one is not None and one.type in _HANDING for one in handed)


def _is_written_for_training(place: RuleContext) -> bool:
    """Whether the name of a module without callers in sight says that training steps or pipelines trace it."""
    path = place.analysis.document.path
    return (
        path is not None
        and any(word in path.stem for word in _MODULES)
        and not place.analysis.called_from_outside(place.node)
    )


def runs_once(place: RuleContext) -> bool:
    """Whether the place makes or initialises a layer, model, loss…: there is nothing to save there."""
    innermost = place.function(place.node) if place.shared.has(b"class") else None
    if innermost is None:
        return False
    known = place.shared.run_once
    if innermost.id not in known:
        known[innermost.id] = _runs_once(place, innermost)
    return known[innermost.id]


def _runs_once(place: RuleContext, function: Node) -> bool:
    once = False
    for one in (function, *place.functions_around(function)):
        holder = holder_of(place, one)
        once = once or _is_for_making(place, one, holder)
        if once and holder is not None and _is_of_keras(place, holder):
            return True
    return False


def _is_for_making(place: RuleContext, function: Node, holder: Node | None) -> bool:
    """Whether a function runs once for each object, by who calls it.

    One that is named for it does so too where nobody in sight calls it, or others do on a condition alone.
    """
    name = _name_of(place, function)
    if name in _ONCE:
        return True
    calls = _calls_in(place, name, holder) if holder is not None else calls_of(place, function)
    named = "init" in name
    return (named or bool(calls)) and all(
        _name_of(place, place.function(call)) in _ONCE or (named and _is_on_condition(place, call))
        for call in calls
    )


def _calls_in(place: RuleContext, method: str, holder: Node) -> list[Node]:
    """Where a class calls a method of its own."""
    inside = range(holder.start_byte, holder.end_byte)
    uses = [use for use in mentions(place, method, "(") if use.start_byte in inside]
    return [use for use in uses if use.parent is not None and use.parent.type == "attribute"]


def _is_on_condition(place: RuleContext, node: Node) -> bool:
    return any(parent.type in _CONDITIONS for parent in place.within_function(node))


def _name_of(place: RuleContext, function: Node | None) -> str:
    name = function.child_by_field_name("name") if function is not None else None
    return place.text(name) if name is not None else ""


def _method_of_keras(place: RuleContext, function: Node) -> bool:
    """Whether Keras calls the method within its training step."""
    holder, name = holder_of(place, function), function.child_by_field_name("name")
    if holder is None or name is None or place.text(name) in _EAGER_METHODS:
        return False
    return _is_of_keras(place, holder)


def _is_of_keras(place: RuleContext, holder: Node) -> bool:
    """Whether a class derives from one that Keras traces; a base out of sight is told by the methods."""
    listed = holder.child_by_field_name("superclasses")
    bases = [_apis(place, base) for base in listed.named_children] if listed is not None else []
    known = catalogue()
    if any(api == kind or known.is_subclass(api, kind) for apis in bases for api in apis for kind in _TRACED):
        return True
    text = place.analysis.source[holder.start_byte : holder.end_byte]
    return not all(bases) and any(method in text for method in _TELLING)


def holder_of(place: RuleContext, function: Node) -> Node | None:
    """The class that a method belongs to."""
    holder = function.parent if place.shared.has(b"class") else None
    while holder is not None and holder.type in ("block", "decorated_definition"):
        holder = holder.parent
    return holder if holder is not None and holder.type == "class_definition" else None


def _apis(place: RuleContext, base: Node) -> Sequence[str]:
    """The public classes behind a base class, the program's own classes between them followed."""
    api = place.analysis.api_of(base)
    if api is not None:
        return [api]
    own = place.analysis.user_class(base)
    if own is None:
        return []
    place.shared.looked_anywhere = True
    return place.analysis.engine.classes.api_bases(own)


def _handed_to_a_tracer(place: RuleContext, function: Node) -> bool:
    """Whether Keras, or a library that is not followed, gets the function to compile or to minimise it."""
    name = function.child_by_field_name("name")
    shared = place.shared
    if shared.handed is None:
        shared.handed = frozenset(_handed(place))
    shared.looked_for |= _TRACER_WORDS
    return name is not None and bool(shared.handed) and place.text(name) in shared.handed


def _handed(place: RuleContext) -> Iterator[str]:
    """The names that the file gives to tracers."""
    for tracer, written in _TRACERS:
        if place.shared.has(written):
            for callee in mentions(place, tracer, "("):
                yield from _given(place, callee)


def _given(place: RuleContext, callee: Node) -> Iterator[str]:
    """The names that one call gives to a tracer."""
    call = callee.parent
    if call is not None and call.type == "attribute":
        call = call.parent
    arguments = call.child_by_field_name("arguments") if call is not None and call.type == "call" else None
    if arguments is None:
        return
    api = place.api(call)
    if api is None or same_api(api, "keras.Model.compile"):
        yield from (place.text(given) for given in descend(arguments, "identifier"))
