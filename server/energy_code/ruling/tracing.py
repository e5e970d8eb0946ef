"""Code that runs as a graph though no `tf.function` is in sight: eager-only rules are silent there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from energy_code.ruling.pattern import catalogue

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
)
_EAGER_METHODS = frozenset({"__init__", "build", "get_config", "from_config", "reset_state", "reset_states"})


def traced_elsewhere(place: Place) -> bool:
    """Whether the file switches eager execution off, or Keras calls the method within its training step."""
    if any(map(place.shared.has, _EAGER_OFF)):
        return True
    function = place.function(place.node)
    if function is None:
        return False
    holder = function.parent
    while holder is not None and holder.type not in ("class_definition", "function_definition", "module"):
        holder = holder.parent
    name = function.child_by_field_name("name")
    if holder is None or holder.type != "class_definition" or name is None:
        return False
    if place.text(name) in _EAGER_METHODS:
        return False
    return any(_is_traced(place, base) for base in _bases(holder))


def _bases(definition: Node) -> list[Node]:
    listed = definition.child_by_field_name("superclasses")
    return listed.named_children if listed is not None else []


def _is_traced(place: Place, base: Node) -> bool:
    api = place.analysis.api_of(base)
    known = catalogue()
    return api is not None and any(api == kind or known.is_subclass(api, kind) for kind in _TRACED)
