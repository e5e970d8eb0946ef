"""Whether code does the same each time it is traced: no effects in Python, no state of Python that changes meanwhile."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterable
from typing import TYPE_CHECKING

from energy_code.rule_engine.context import RuleContext

if TYPE_CHECKING:
    from tree_sitter import Node

_EFFECT = re.compile(
    rb"(?<![\w.])(?:print|open|input|next)\(|(?<!\w)(?:global|nonlocal|yield)(?!\w)|(?<![\w.])(?:random|time)\."
    rb"|(?<!\w)(?:np|numpy)\.random|\.(?:append|extend|numpy|item|update|pop|Variable)\(|\]\s*[-+*/|]?=(?!=)"
    rb"|(?<![\w.])\w+(?:\.\w+)+\s*[-+*/|]?=(?!=)"
)
"""What a trace would do once: in a function that is called, or in a model's own `call`."""
_CALLED = re.compile(rb"(?<![\w.])([A-Za-z_]\w*)\s*\(")
_METHODS = ("call", "__call__")
_CHANGED_SAFELY = rb"(?:learning_rate|lr)\b"
"""Attributes that set a variable of TensorFlow."""
_MUTATED = rb"\.(?:append|extend|insert|pop|remove|clear|update|add|setdefault)\("
_APPLIES = rb"\.(?:apply_gradients|minimize|apply)\("
DEPTH = 4


def calls_pure_code(place: RuleContext, text: bytes, depth: int = DEPTH) -> bool:
    """Whether the functions of the file that a text calls, and the models of the file, have no effect in sight."""
    place.shared.looked_anywhere = True  # any function and class of the file may be the one
    functions, classes = _definitions(place)
    if any(has_effect(place, method) for method in classes):
        return False
    waiting, seen = [text], set[bytes]()
    for _ in range(depth):
        names = {name for one in waiting for name in _CALLED.findall(one)} - seen
        seen |= names
        bodies = [node for name, node in functions if name in names]
        if any(has_effect(place, body) for body in bodies):
            return False
        waiting = [place.shared.code()[body.start_byte : body.end_byte] for body in bodies]
    return True


def _definitions(place: RuleContext) -> tuple[list[tuple[bytes, Node]], list[Node]]:
    """Functions of the file by name, and the methods with which its models compute."""
    functions: list[tuple[bytes, Node]] = []
    methods: list[Node] = []
    waiting = [(place.analysis.tree().root_node, False)]
    while waiting:
        node, in_class = waiting.pop()
        for child in node.named_children:
            if child.type in ("function_definition", "class_definition"):
                name, body = child.child_by_field_name("name"), child.child_by_field_name("body")
                if name is None or body is None:
                    continue
                if child.type == "class_definition":
                    waiting.append((body, True))
                    continue
                if in_class and place.text(name) in _METHODS:
                    methods.append(body)
                elif not in_class:
                    functions.append((place.text(name).encode(), body))
                waiting.append((body, False))
            elif child.type in ("decorated_definition", "if_statement", "block", "try_statement"):
                waiting.append((child, in_class))
    return functions, methods


def has_effect(place: RuleContext, body: Node) -> bool:
    """Whether a body does something in Python that a trace would do once."""
    return _EFFECT.search(place.shared.code(), body.start_byte, body.end_byte) is not None


def changes_outside(text: bytes, names: Iterable[str]) -> bool:
    """Whether some code sets an attribute or item of a name, or makes a list of that name longer."""
    for name in names:
        word = rb"(?<![\w.])" + re.escape(name.encode())
        attribute = rb"(?:\.\w+|\[[^\]\n]*\])*\.(?!" + _CHANGED_SAFELY + rb")\w+\s*[-+*/|]?=(?!=)"
        item = rb"(?:\.\w+)*\[[^\]\n]*\]\s*[-+*/|]?=(?!=)"
        if re.search(word + rb"(?:" + attribute + rb"|" + item + rb"|" + _MUTATED + rb")", text):
            return True
    return False


def applies_gradients_of(text: bytes, names: Iterable[str]) -> bool:
    """Whether an optimizer of one of these names is used: another one in a later call would make variables again."""
    return any(
        re.search(rb"(?<![\w.])" + re.escape(name.encode()) + _APPLIES, text) is not None for name in names
    )


def free_names(text: bytes) -> frozenset[str] | None:
    """Names that a function reads and does not bind; None for what is no Python."""
    try:
        tree = ast.parse(textwrap.dedent(text.decode()))
    except (SyntaxError, ValueError, RecursionError):
        return None
    loaded: set[str] = set()
    bound: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (bound if isinstance(node.ctx, ast.Store) else loaded).add(node.id)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            bound.add(node.name)
    return frozenset(loaded - bound)


def is_rebound(text: bytes, name: str) -> bool:
    """Whether a text binds a name more than once, or counts it up."""
    word = re.escape(name.encode())
    plain = re.findall(
        rb"(?m)^[ \t]*(?:\w+[ \t]*,[ \t]*){0,50}" + word + rb"[ \t]*(?:,[ \t]*\w+[ \t]*){0,50}=(?!=)", text
    )
    return len(plain) > 1 or re.search(rb"(?m)^[ \t]*" + word + rb"[ \t]*[-+*/|]=", text) is not None
