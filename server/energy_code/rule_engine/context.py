"""A place in a file as a rule sees it: a call, what surrounds it, and what the reader knows of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from energy_code.interpreter.domain.definitions import UserInstance
from energy_code.model import Call, Mode
from energy_code.rule_engine.queries.shapes import Shape, dtype_of, literal, shape_of, size_of

if TYPE_CHECKING:
    from tree_sitter import Node

    from energy_code.analysis.analysis import Analysis
    from energy_code.rule_engine.file_context import FileContext

TENSORS = frozenset({"tensorflow.Tensor", "tensorflow.Variable"})
_SCOPES = frozenset({"function_definition", "lambda", "class_definition", "module"})
_LOOPS = frozenset({"for_statement", "while_statement"})
_COMPREHENSIONS = frozenset(
    {"list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression"}
)
_LOOPS_AND_COMPREHENSIONS = _LOOPS | _COMPREHENSIONS
LITERALS = frozenset(
    {"integer", "float", "string", "unary_operator", "list", "tuple", "true", "false", "none"}
)
_DEFINITIONS = ("function_definition", "class_definition")
_ASSIGNS = re.compile(rb"[\s\\]*[=:]")
"""What stands behind a name that is assigned."""
_TESTING = (b"pytest", b"unittest", b"TestCase")
"""One of these is written in a file with tests that is not named for them."""
_ATOMS = frozenset({"identifier", "attribute", "subscript"})


class Edit(NamedTuple):
    """Replace the bytes from `start_byte` to `end_byte` with `text`."""

    start_byte: int
    end_byte: int
    text: str


@dataclass(slots=True)
class Match:
    """What a rule found: the expression to point at, its parts by name, and how to rewrite it."""

    node: Node
    captures: dict[str, Node] = field(default_factory=dict)
    template: str | None = None
    """New text for `node`, with `$name` for the captured parts."""
    edits: Callable[[], list[Edit]] | None = None
    """For rewrites that are more than one expression."""
    is_proven: Callable[[], bool] | None = None
    """Whether the operands of all operators are proven to be tensors: if not, the fix is for review."""
    related: Sequence[Node] = ()
    message: str | None = None


class RuleContext:
    """One call (or operator) under a rule's eyes."""

    __slots__ = ("analysis", "call", "captures", "node", "shared")

    def __init__(self, analysis: Analysis, node: Node, call: Call | None, shared: FileContext) -> None:
        self.analysis = analysis
        self.shared = shared
        self.node = node
        self.call = call
        self.captures: dict[str, Node] = {}

    def __getitem__(self, name: str) -> Node:
        """A captured part of the pattern."""
        return self.captures[name]

    # what the reader knows

    @property
    def mode(self) -> Mode:
        """Eager, graph or jit at this place."""
        return self.call.mode if self.call is not None else self.analysis.mode_at(self.node)

    def api(self, node: Node | None) -> str | None:
        """Canonical API of a call expression."""
        if node is None or node.type != "call":
            return None
        known = self.shared.apis
        if node.id not in known:
            call = self.analysis.call_of(node)
            known[node.id] = call.api if call is not None else None
        return known[node.id]

    def type(self, node: Node) -> str | None:
        """Canonical class of an expression's value."""
        node = bare(node)
        found = self.analysis.type_of(node)
        if found not in TENSORS and isinstance(self.analysis.value_of(node), UserInstance):
            self.shared.looked_anywhere = True  # what its class inherits may be written anywhere
        return found

    def is_tensor(self, node: Node) -> bool:
        """Whether the expression is proven to be a tensor or a variable."""
        return self.type(node) in TENSORS

    # what the text says

    def text(self, node: Node) -> str:
        """The source of a node."""
        return self.analysis.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def constant(self, node: Node) -> object:
        """The value of a literal (numbers, strings, tuples and lists of them); `...` when it is none."""
        return literal(self.text(node)) if node.type in LITERALS else ...

    def shape(self, node: Node) -> Shape | None:
        """The shape of a tensor as far as the text tells, with None for unknown axes."""
        known = self.shared.shapes
        if node.id not in known:
            known[node.id] = shape_of(self, node)
        return known[node.id]

    def rank(self, node: Node) -> int | None:
        """Number of axes, where the text tells."""
        shape = self.shape(node)
        return None if shape is None else len(shape)

    def size(self, node: Node) -> int | None:
        """Number of elements, where the text tells."""
        return size_of(self.shape(node))

    def dtype(self, node: Node) -> str | None:
        """Element type, where the text tells."""
        known = self.shared.dtypes
        if node.id not in known:
            known[node.id] = dtype_of(self, node)
        return known[node.id]

    def is_integer(self, node: Node) -> bool:
        """Whether the elements are known to be integers."""
        return (self.dtype(node) or "").startswith(("int", "uint"))

    def dtype_name(self, node: Node) -> str:
        """`float32` for `tf.float32`, `np.float32` and `"float32"`."""
        return self.text(node).rpartition(".")[2].strip("'\"")

    def is_simple(self, node: Node) -> bool:
        """A name, attribute or item: free to be written once instead of twice, or twice instead of once."""
        node = bare(node)
        return node.type in _ATOMS and b"(" not in self.analysis.source[node.start_byte : node.end_byte]

    def argument(self, node: Node, keyword: str, position: int | None = None) -> Node | None:
        """An argument of a call by keyword or position."""
        known = self.shared.arguments.get(node.id)
        if known is None:
            known = self.shared.arguments[node.id] = self._arguments(node)
        positional, keywords = known
        if keyword in keywords:
            return keywords[keyword]
        if position is not None and position < len(positional):
            found = positional[position]
            return None if found.type in ("list_splat", "dictionary_splat") else found
        return None

    def _arguments(self, node: Node) -> tuple[list[Node], dict[str, Node | None]]:
        """The arguments of a call by position and by keyword."""
        positional: list[Node] = []
        keywords: dict[str, Node | None] = {}
        arguments = node.child_by_field_name("arguments")
        for child in arguments.named_children if arguments is not None else ():
            if child.type == "keyword_argument":
                name = child.child_by_field_name("name")
                if name is not None:
                    keywords.setdefault(self.text(name), child.child_by_field_name("value"))
            elif child.type != "comment":
                positional.append(child)
        return positional, keywords

    def receiver(self, node: Node) -> Node | None:
        """The object of a method call."""
        function = node.child_by_field_name("function")
        return function.child_by_field_name("object") if function is not None else None

    # what surrounds it

    def loop(self, node: Node, *, comprehensions: bool = True) -> Node | None:
        """The nearest loop that runs this node again and again within its own function."""
        known, key = self.shared.loops, (node.id, comprehensions)
        if key not in known:
            loops = _LOOPS_AND_COMPREHENSIONS if comprehensions else _LOOPS
            known[key] = _loop_around(node, self.within_function(node), loops)
        return known[key]

    def ancestors(self, node: Node) -> list[Node]:
        """What is around a node, the nearest first, the module last."""
        around, function = self.within_function(node), self.function(node)
        return around + self.ancestors(function) if function is not None else around

    def within_function(self, node: Node) -> list[Node]:
        """What is around a node up to the function definition, or else the module, that holds it."""
        known = self.shared.ancestors
        if node.id not in known:
            known[node.id] = _ancestors(self.scope(node), node)
        return known[node.id]

    def function(self, node: Node) -> Node | None:
        """The function definition around a node, None at module level."""
        known = self.shared.functions
        if node.id not in known:
            known[node.id] = self._function_around(node)
        return known[node.id]

    def _function_around(self, node: Node) -> Node | None:
        """By what the reader knows of where functions are; of broken code it may know less than the tree has."""
        root = self.analysis.root_at(node.start_byte)
        if not self.analysis.whole:
            around = (parent for parent in _ancestors(root, node) if parent.type == "function_definition")
            return next(around, None)
        where = self.analysis.function_around(node.start_byte, node.end_byte)
        return root.descendant_for_byte_range(*where) if where is not None else None

    def functions_around(self, node: Node) -> Iterator[Node]:
        """The function definitions around a node, the innermost first."""
        function = self.function(node)
        while function is not None:
            yield function
            function = self.function(function)

    def in_with(self, node: Node, word: bytes) -> bool:
        """Whether a `with` statement of the same function, with that word in its head, holds the node."""
        if not self.shared.has(word):
            return False
        for parent in self.within_function(node):
            if parent.type == "with_statement":
                body = parent.child_by_field_name("body")
                end = body.start_byte if body is not None else parent.end_byte
                if word in self.analysis.source[parent.start_byte : end]:
                    return True
        return False

    def in_test(self, node: Node) -> bool:
        """Whether a test holds the node, as test runners find them: its settings are there to be tested."""
        path = self.analysis.document.path
        named = path is not None and (path.stem.startswith("test_") or path.stem.endswith("_test"))
        if not named and not any(map(self.shared.has, _TESTING)):
            return False
        names = (function.child_by_field_name("name") for function in self.functions_around(node))
        return any(name is not None and self.text(name).startswith("test") for name in names)

    def scope(self, node: Node) -> Node:
        """The function definition or module around a node."""
        function = self.function(node)
        return function if function is not None else self.analysis.tree().root_node

    def assignments(self, node: Node) -> list[Node]:
        """The assignments to a name within the scope of `node`, `node` being that name."""
        scope, name = self.scope(node), self.text(node)
        key = (scope.id, name)
        self._looks_for(scope, name)
        found = self.shared.assignments.get(key)
        if found is None:
            parents = [(use, use.parent) for use in self.uses(scope, name, before=_ASSIGNS)]
            found = self.shared.assignments[key] = [
                parent
                for use, parent in parents
                if parent is not None
                and parent.type == "assignment"
                and parent.child_by_field_name("left") == use
            ]
        return found

    def uses(self, within: Node, name: str, before: re.Pattern[bytes] | None = None) -> list[Node]:
        """Where a node, what its nested functions hold left out, has a name (with some text behind it)."""
        source, word = self.analysis.source, name.encode()
        self._looks_for(within, name)
        start, end, size = within.start_byte, within.end_byte, len(word)
        inner = start + len(b"def") if within.type in _DEFINITIONS else start  # none is nested in itself
        nests = source.find(b"def", inner, end) >= 0 or source.find(b"class", inner, end) >= 0
        found = []
        for at in self.shared.occurrences(word, b"", start, end):
            if before is not None and before.match(source, at + size) is None:
                continue
            node = within.descendant_for_byte_range(at, at + size)
            if node is not None and node.type == "identifier" and not (nests and _nested(node, within)):
                found.append(node)
        return found

    def _looks_for(self, scope: Node, name: str) -> None:
        if scope.type == "module":
            self.shared.looked_for.add(name.encode())

    def value(self, node: Node) -> Node:
        """What a name stands for when its scope assigns it exactly once, and before; else the name itself."""
        node = bare(node)
        if node.type != "identifier":
            return node
        found = self.assignments(node)
        if len(found) != 1 or found[0].start_byte >= node.start_byte:
            return node
        right = found[0].child_by_field_name("right")
        return bare(right) if right is not None else node

    def names(self, node: Node) -> set[str]:
        """All identifiers within a node."""
        return {self.text(child) for child in descend(node, "identifier")}

    def count_name(self, node: Node, name: str) -> int:
        """How often a name stands below a node."""
        return len(self.uses(node, name))

    def module_alias(self, module: str) -> str | None:
        """How the file calls an imported module such as `numpy`."""
        return self.shared.alias(module)


def bare(node: Node) -> Node:
    """The expression without the parentheses around it."""
    while node.type == "parenthesized_expression":
        inner = [child for child in node.named_children if child.type != "comment"]
        if len(inner) != 1:
            return node
        node = inner[0]
    return node


def descend(node: Node, *kinds: str) -> list[Node]:
    """All nodes of some kinds below a node, in the order of the text, what nested functions hold left out."""
    found: list[Node] = []
    waiting = node.named_children[::-1]
    while waiting:
        child = waiting.pop()
        kind = child.type
        if kind in kinds:
            found.append(child)
        if kind not in _DEFINITIONS:
            waiting += child.named_children[::-1]
    return found


def _ancestors(around: Node, node: Node) -> list[Node]:
    """From a node around downwards, as tree-sitter does for each single parent; the nearest first."""
    cursor, start = around.walk(), node.start_byte
    found = [around]
    while cursor.goto_first_child_for_byte(start) is not None:
        child = cursor.node
        if child is None or child == node:
            return found[::-1]
        found.append(child)
    found, parent = [], node.parent  # a node without extent is not on the way to its own place
    while parent is not None and parent != around:
        found.append(parent)
        parent = parent.parent
    return [*found, around]


def _loop_around(node: Node, ancestors: list[Node], loops: frozenset[str]) -> Node | None:
    child = node
    for parent in ancestors:
        kind = parent.type
        if kind in _SCOPES:
            return None
        if kind in loops and child == parent.child_by_field_name("body"):
            return parent
        child = parent
    return None


def _nested(node: Node, within: Node) -> bool:
    parent = node.parent
    while parent is not None and parent != within:
        if parent.type in _DEFINITIONS:
            return True
        parent = parent.parent
    return False
