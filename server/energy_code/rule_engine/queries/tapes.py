"""Whether a gradient will be taken: some rewrites gain only without one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from energy_code.rule_engine.queries.loops import mentions, only_calls_of
from energy_code.rule_engine.queries.tracing import CALLERS, holder_of

if TYPE_CHECKING:
    from tree_sitter import Node

    from energy_code.rule_engine.context import RuleContext

_TAPE = b"GradientTape"
_NAMED = ("function_definition", "class_definition")
_DIFFERENTIATED = re.compile(
    r"loss|objective|likelihood|log_?prob|densit|elbo|penalt|diverg|regulari"
    r"|(?:^|[_.])(?:kl|nll|costs?|bound)(?:[_.]|$)"
)
"""What training minimises or maximises, as people name it: asked only where the file shows no call."""


def under_tape(place: RuleContext, node: Node) -> bool:
    """Whether a tape is open here. Calls in sight decide; where there are none, names such as `loss` do."""
    shown = _shown(place, node, CALLERS)
    return _is_named_so(place, node) if shown is None else shown


def _shown(place: RuleContext, node: Node, depth: int) -> bool | None:
    """Whether a tape is open at a place; None when that hangs on calls that are not in sight."""
    if place.in_with(node, _TAPE):
        return True
    function = place.function(node)
    if function is None:
        return False
    if holder_of(place, function) is not None:
        return None
    calls = only_calls_of(place, function) if depth else None
    if calls is None:
        return None
    found = [_shown(place, call, depth - 1) for call in calls]
    return True if True in found else None if None in found else False


def _is_named_so(place: RuleContext, node: Node) -> bool:
    """Whether the file calls the function around under a tape, or a name says that training differentiates it."""
    path = place.analysis.document.path
    if path is not None and _DIFFERENTIATED.search(path.stem.lower()):
        return True
    for holder in place.ancestors(node):
        name = _name_of(holder)
        if name is not None and _DIFFERENTIATED.search(place.text(name).lower()):
            return True
        if name is not None and holder.type in _NAMED and _called_in_tape(place, place.text(name)):
            return True
    return False


def _name_of(holder: Node) -> Node | None:
    """What a definition or an assignment calls the value."""
    if holder.type in _NAMED:
        return holder.child_by_field_name("name")
    if holder.type in ("assignment", "augmented_assignment"):
        return holder.child_by_field_name("left")
    return None


def _called_in_tape(place: RuleContext, name: str) -> bool:
    return place.shared.has(_TAPE) and any(place.in_with(call, _TAPE) for call in mentions(place, name, "("))
