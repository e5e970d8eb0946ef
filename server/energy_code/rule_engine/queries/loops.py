"""What a loop binds and changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from energy_code.rule_engine.context import RuleContext

if TYPE_CHECKING:
    from tree_sitter import Node

_BINDERS = {
    "assignment": "left",
    "augmented_assignment": "left",
    "named_expression": "name",
    "for_statement": "left",
    "for_in_clause": "left",
    "as_pattern": "alias",
}
"""Statements and expressions that bind names, and the field of the names."""
_NO_TARGET = frozenset({"argument_list", "call", "binary_operator", "comparison_operator", "block"})
"""What stands in it is not what a statement around it binds."""


def targets(place: RuleContext, loop: Node) -> set[str]:
    """Names that the loop itself binds anew in every pass."""
    if loop.type == "for_statement":
        left = loop.child_by_field_name("left")
        return place.names(left) | _own_name(place, left) if left is not None else set()
    clauses = [child for child in loop.named_children if child.type == "for_in_clause"]
    lefts = [clause.child_by_field_name("left") for clause in clauses]
    return {name for left in lefts if left is not None for name in place.names(left) | _own_name(place, left)}


def rebinds(place: RuleContext, loop: Node, names: set[str]) -> bool:
    """Whether the body of the loop assigns one of some names."""
    body = loop.child_by_field_name("body")
    if body is None:
        return False
    return any(_is_bound(use) for name in names for use in place.uses(body, name))


def _is_bound(use: Node) -> bool:
    """Whether a name stands where a statement binds it, or sets an attribute or item of it."""
    binder = use.parent
    while binder is not None and (kind := binder.type) not in _NO_TARGET:
        field = _BINDERS.get(kind)
        if field is not None:
            target = binder.child_by_field_name(field)
            return target is not None and target.start_byte <= use.start_byte < target.end_byte
        binder = binder.parent
    return False


def changes(place: RuleContext, loop: Node, names: set[str]) -> bool:
    """Whether one of some names means something else in the next pass."""
    return bool(names & targets(place, loop)) or rebinds(place, loop, names)


def names_in(place: RuleContext, node: Node) -> set[str]:
    """All names that an expression uses."""
    return place.names(node) | _own_name(place, node)


def _own_name(place: RuleContext, node: Node) -> set[str]:
    return {place.text(node)} if node.type == "identifier" else set()


def over_range(place: RuleContext, loop: Node) -> bool:
    """Whether a for statement counts through `range(…)`."""
    right = loop.child_by_field_name("right") if loop.type == "for_statement" else None
    return right is not None and place.text(right).startswith("range(")


def mentions(place: RuleContext, name: str, after: str = "") -> list[Node]:
    """Every place of the file that names something, with `after` right behind it."""
    known = place.shared.mentioned
    place.shared.looked_for.add(name.encode())
    nodes = known.get((name, after))
    if nodes is None:
        nodes = known[name, after] = []
        size = len(name.encode())
        analysis = place.analysis
        for start in place.shared.occurrences(name.encode(), after.encode(), 0, len(analysis.source)):
            node = analysis.root_at(start).descendant_for_byte_range(start, start + size)
            if node is not None and node.type == "identifier":
                nodes.append(node)
    return nodes


def calls_of(place: RuleContext, function: Node) -> list[Node]:
    """Calls of a function by its plain name, where that name is in sight: a nested one is not called from elsewhere."""
    name = function.child_by_field_name("name")
    if name is None:
        return []
    known, written = place.shared.calls, place.text(name)
    place.shared.looked_for.add(written.encode())
    if function.id not in known:
        known[function.id] = _calls_in_sight(place, function, written)
    return known[function.id]


def _calls_in_sight(place: RuleContext, function: Node, name: str) -> list[Node]:
    found: list[Node] = []
    scope = place.function(function)
    for node in mentions(place, name, "("):
        call = node.parent
        if call is None or call.type != "call" or call.start_byte != node.start_byte:
            continue
        if scope is None or scope.start_byte <= node.start_byte < scope.end_byte:
            found.append(call)
    return found


def method_calls(place: RuleContext, function: Node) -> list[Node]:
    """Calls of a method of that name in the file, whatever object they ask."""
    name = function.child_by_field_name("name")
    found = []
    for node in mentions(place, place.text(name), "(") if name is not None else ():
        callee = node.parent
        call = callee.parent if callee is not None and callee.type == "attribute" else None
        if call is not None and call.type == "call" and call.child_by_field_name("function") == callee:
            found.append(call)
    return found


def only_calls_of(place: RuleContext, function: Node) -> list[Node] | None:
    """The calls of a function by its name; None when the file also uses it otherwise, or not at all."""
    name = function.child_by_field_name("name")
    if name is None or (function.parent is not None and function.parent.type == "decorated_definition"):
        return None
    calls = calls_of(place, function)
    return calls if calls and len(calls) + 1 == len(mentions(place, place.text(name))) else None


def methods_of(place: RuleContext, name: Node, method: str) -> list[Node]:
    """Calls of a method of the object that a name stands for, in the name's own scope."""
    scope = place.scope(name)
    callees = (node.parent for node in mentions(place, place.text(name), f".{method}("))
    calls = [callee.parent for callee in callees if callee is not None and callee.type == "attribute"]
    return [call for call in calls if call is not None and place.scope(call) == scope]


def definition(place: RuleContext, name: str) -> Node | None:
    """The one function of that name at module level, None when there is none or more than one."""
    found: dict[int, Node] = {}
    place.shared.looked_for.add(name.encode())
    analysis = place.analysis
    starts = [start for start, statement in analysis.layout.statements if name in statement.binds]
    for statement in [one for start in starts for one in analysis.root_at(start).named_children]:
        node = (
            statement.child_by_field_name("definition")
            if statement.type == "decorated_definition"
            else statement
        )
        if node is not None and node.type == "function_definition":
            own = node.child_by_field_name("name")
            if own is not None and place.text(own) == name:
                found[node.start_byte] = node
    return next(iter(found.values())) if len(found) == 1 else None
