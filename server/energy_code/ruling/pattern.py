"""Patterns: Python with `$name` holes, compiled once and matched against the editor's own tree."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from energy_code.ruling.place import Place, bare
from energy_code.ruling.signatures import OPERATORS, SIGNATURES, Signature, parse

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

    from energy_data.catalogue import Catalogue

_HOLE = re.compile(r"\$(\w+)(\??)")
_COMMUTATIVE = frozenset("+*")
_DTYPE = re.compile(r"tf\.(?:bool|string|u?int\d+|b?float\d+|complex\d+)")


@dataclass(eq=False)
class State:
    """What a match has bound so far."""

    place: Place
    captures: dict[str, Node]
    weak: bool = False


class Part:
    """One node of a pattern."""

    def match(self, node: Node, state: State) -> bool:
        """Whether the node fits, binding holes on the way."""
        raise NotImplementedError

    def parts(self) -> Iterator[Part]:
        """The parts one level below."""
        return iter(())


@dataclass(eq=False)
class Hole(Part):
    """Any expression; the same name again must be the same simple expression."""

    name: str
    optional: bool

    def match(self, node: Node, state: State) -> bool:
        """Bind, or compare with what is bound."""
        earlier = state.captures.get(self.name)
        if earlier is None:
            state.captures[self.name] = bare(node)
            return True
        place = state.place
        return place.is_simple(earlier) and place.text(bare(earlier)) == place.text(bare(node))


@dataclass(eq=False)
class Constant(Part):
    """A literal, compared by value: `1`, `1.0` and `1.` are the same."""

    value: object

    def match(self, node: Node, state: State) -> bool:
        """Compare values."""
        value = state.place.constant(node)
        return isinstance(value, bool) == isinstance(self.value, bool) and value == self.value


@dataclass(eq=False)
class Dtype(Part):
    """A type such as `tf.float64`, also written `np.float64` or `"float64"`."""

    name: str

    def match(self, node: Node, state: State) -> bool:
        """Compare names."""
        return state.place.dtype_name(node) == self.name


@dataclass(eq=False)
class ApiCall(Part):
    """A call of an API with exactly these arguments, others only at their defaults."""

    api: str
    arguments: Mapping[str, Part]
    signature: Signature
    method: bool

    def match(self, node: Node, state: State) -> bool:
        """Compare the API, then argument by argument."""
        if not same_api(state.place.api(node), self.api):
            return False
        return self.match_arguments(node, state)

    def match_arguments(self, node: Node, state: State) -> bool:
        """Compare the arguments of a call that is known to be of this API."""
        known = state.place.shared.bound
        key = (node.id, id(self.signature))
        if key not in known:
            known[key] = bind(state.place, node, self.signature, self.method)
        arguments = known[key]
        if arguments is None:
            return False
        bound = dict(arguments)
        for name, part in self.arguments.items():
            given = bound.pop(name, None)
            if given is None:
                if not (isinstance(part, Hole) and part.optional):
                    return False
            elif not part.match(bare(given), state):
                return False
        return not bound

    def parts(self) -> Iterator[Part]:
        """The arguments."""
        return iter(self.arguments.values())


@dataclass(eq=False)
class Operator(Part):
    """An operator, or the function that an operator between tensors is."""

    symbol: str
    left: Part
    right: Part
    functions: tuple[str, ...]

    def match(self, node: Node, state: State) -> bool:
        """Compare the operands, in both orders where that makes no difference."""
        operands = self._operands(node, state.place)
        if operands is None:
            return False
        first, second, written_as_call = operands
        orders = [(first, second), (second, first)] if self.symbol in _COMMUTATIVE else [(first, second)]
        for left, right in orders:
            trial = State(state.place, dict(state.captures), state.weak)
            if self.left.match(left, trial) and self.right.match(right, trial):
                proven = written_as_call or self._proven(left, right, state.place)
                state.captures, state.weak = trial.captures, trial.weak or not proven
                return True
        return False

    def _operands(self, node: Node, place: Place) -> tuple[Node, Node, bool] | None:
        if node.type in ("binary_operator", "comparison_operator"):
            children = [child for child in node.children if child.type != "comment"]
            if len(children) != 3 or children[1].type != self.symbol:
                return None
            return bare(children[0]), bare(children[2]), False
        if node.type == "call" and place.api(node) in self.functions:
            bound = bind(place, node, parse("x, y"), method=False)
            if bound is not None and len(bound) == 2 and "x" in bound and "y" in bound:
                return bare(bound["x"]), bare(bound["y"]), True
        return None

    def _proven(self, left: Node, right: Node, place: Place) -> bool:
        for part, node in ((self.left, left), (self.right, right)):
            if isinstance(part, ApiCall) or place.is_tensor(node):
                return True
            if isinstance(part, Operator) and part._has_call():
                return True
        return False

    def _has_call(self) -> bool:
        return any(
            isinstance(p, ApiCall) or (isinstance(p, Operator) and p._has_call()) for p in self.parts()
        )

    def parts(self) -> Iterator[Part]:
        """Both operands."""
        return iter((self.left, self.right))


@dataclass(eq=False)
class Syntax(Part):
    """Any other piece of Python: same kind of node, same tokens, parts in the same order."""

    kind: str
    children: Sequence[Part | str]

    def match(self, node: Node, state: State) -> bool:
        """Compare kind and children."""
        if node.type != self.kind:
            return False
        given = [child for child in node.children if child.type not in ("comment", ",", "(", ")")]
        if not given:
            return len(self.children) == 1 and self.children[0] == state.place.text(node)
        if len(given) != len(self.children):
            return False
        for part, child in zip(self.children, given, strict=True):
            if isinstance(part, str):
                if part != state.place.text(child):
                    return False
            elif not part.match(bare(child), state):
                return False
        return True

    def parts(self) -> Iterator[Part]:
        """The parts that are not mere tokens."""
        return (child for child in self.children if isinstance(child, Part))


def same_api(found: str | None, wanted: str) -> bool:
    """Whether a call's API is the wanted one, or the same method of a subclass (`keras.Sequential.fit`)."""
    if found is None or found == wanted:
        return found is not None
    owner, _, method = wanted.rpartition(".")
    found_owner, _, found_method = found.rpartition(".")
    if method != found_method or not owner.rpartition(".")[2][:1].isupper():
        return False
    return catalogue().is_subclass(found_owner, owner)


def bind(place: Place, call: Node, signature: Signature, method: bool) -> dict[str, Node] | None:
    """Arguments by parameter name, those at their default left out; None when they cannot be told apart."""
    arguments = call.child_by_field_name("arguments")
    if arguments is None or arguments.type != "argument_list":
        return None
    bound: dict[str, Node] = {}
    names = [name for name, _ in signature]
    position = 0
    if method:
        receiver = place.receiver(call)
        if receiver is None:
            return None
        bound[names[0]] = receiver
        position = 1
    for child in arguments.named_children:
        if child.type == "comment":
            continue
        if child.type in ("list_splat", "dictionary_splat"):
            return None
        if child.type == "keyword_argument":
            name, value = child.child_by_field_name("name"), child.child_by_field_name("value")
            if name is None or value is None:
                return None
            bound[place.text(name)] = value
        else:
            bound[names[position] if position < len(names) else str(position)] = child
            position += 1
    defaults = dict(signature)
    return {n: v for n, v in bound.items() if n not in defaults or place.text(v) != defaults[n]}


@dataclass(eq=False)
class Pattern:
    """A compiled pattern, and where to look for it."""

    root: Part
    anchor: str
    """API whose calls are looked at; or, with `depth` −1, a token of the text such as `**`."""
    depth: int
    """How many levels the whole expression lies above the anchor call."""
    words: tuple[bytes, ...] = ()
    """Last parts of the API names within: a file without them cannot match."""

    def match(self, place: Place, anchor: Node) -> tuple[Node, State] | None:
        """Match the expression around an anchor; the expression and what it bound."""
        node: Node | None = anchor
        for _ in range(self.depth):
            node = _above(node) if node is not None else None
        if node is None:
            return None
        state = State(place, {})
        return (node, state) if self.root.match(node, state) else None


def _above(node: Node) -> Node | None:
    parent = node.parent
    while parent is not None and parent.type in (
        "parenthesized_expression",
        "argument_list",
        "keyword_argument",
    ):
        parent = parent.parent
    return parent


def compile_pattern(text: str, signatures: Sequence[tuple[str, str]]) -> Iterator[Pattern]:
    """Compile a pattern; one for each way its outermost operator can be written."""
    source = _HOLE.sub(lambda m: ("OPTIONAL__" if m.group(2) else "HOLE__") + m.group(1), text)
    tree = _parser().parse(source.encode())
    statement = tree.root_node.named_children[0]
    inner = statement.named_children[0] if statement.named_children else statement
    if tree.root_node.has_error or statement.type != "expression_statement" or inner.type == "assignment":
        raise ValueError(f"the pattern {text!r} is not an expression")
    root = _Compiler(source, signatures).part(inner)
    words = tuple(_words(root))
    found = _anchor(root, 0)
    if found is not None:
        yield Pattern(root, *found, words)
    else:
        yield Pattern(root, _token(root, text), -1, words)
    if isinstance(root, Operator):
        for function in root.functions:
            yield Pattern(root, function, 0, words)


def _words(part: Part) -> Iterator[bytes]:
    if isinstance(part, ApiCall):
        yield part.api.rpartition(".")[2].encode()
    for below in part.parts():
        yield from _words(below)


def _anchor(part: Part, depth: int) -> tuple[str, int] | None:
    if isinstance(part, ApiCall):
        return part.api, depth
    for below in part.parts():
        found = _anchor(below, depth + 1)
        if found is not None:
            return found
    return None


def _token(root: Part, text: str) -> str:
    if isinstance(root, Operator):
        return root.symbol
    return text.partition("$")[0]


class _Compiler:
    def __init__(self, source: str, signatures: Sequence[tuple[str, str]]) -> None:
        self.source = source.encode()
        self.signatures = {**SIGNATURES, **dict(signatures)}

    def text(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte].decode()

    def part(self, node: Node) -> Part:
        node = bare(node)
        text = self.text(node)
        if node.type == "identifier" and text.startswith(("HOLE__", "OPTIONAL__")):
            kind, _, name = text.partition("__")
            return Hole(name, kind == "OPTIONAL")
        if _DTYPE.fullmatch(text):
            return Dtype(text.removeprefix("tf."))
        if node.type in ("integer", "float", "string", "unary_operator", "true", "false", "none"):
            constant = self._constant(node)
            if constant is not None:
                return constant
        if node.type == "call":
            return self._call(node)
        if node.type in ("binary_operator", "comparison_operator"):
            return self._operator(node)
        children = [c for c in node.children if c.type not in (",", "(", ")")]
        if not children:
            return Syntax(node.type, [text])
        return Syntax(node.type, [self.part(c) if c.is_named else self.text(c) for c in children])

    def _constant(self, node: Node) -> Part | None:
        try:
            return Constant(ast.literal_eval(self.text(node)))
        except ValueError:
            return None

    def _operator(self, node: Node) -> Part:
        left, symbol, right = node.children
        functions = tuple(canonical(name) for name in OPERATORS.get(symbol.type, ()))
        return Operator(symbol.type, self.part(left), self.part(right), functions)

    def _call(self, node: Node) -> Part:
        function = node.child_by_field_name("function")
        arguments = node.child_by_field_name("arguments")
        assert function is not None
        assert arguments is not None
        name = self.text(function)
        if not name.startswith(("tf.", "keras.")):
            children = [self.part(function) if "__" in name else name, self.part(arguments)]
            return Syntax("call", children)
        signature = parse(self.signatures.get(name, ""))
        names = [parameter for parameter, _ in signature]
        bound: dict[str, Part] = {}
        for position, child in enumerate(arguments.named_children):
            if child.type == "keyword_argument":
                keyword, value = child.named_children
                bound[self.text(keyword)] = self.part(value)
            else:
                if position >= len(names) or not names[position]:
                    raise ValueError(
                        f"no signature for {name}: name its parameters in the rule's `signatures`"
                    )
                bound[names[position]] = self.part(child)
        return ApiCall(canonical(name), bound, signature, names[:1] == ["self"])


def canonical(name: str) -> str:
    """The canonical name of an API as patterns write it (`tf.…`, `keras.…`)."""
    found = catalogue().canonical(name)
    if found is None:
        raise ValueError(f"the catalogue does not know {name}")
    return found


@functools.lru_cache(maxsize=1)
def _parser() -> Parser:
    import tree_sitter
    import tree_sitter_python

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_python.language()))


@functools.lru_cache(maxsize=1)
def catalogue() -> Catalogue:
    """The catalogue of API names, loaded once."""
    from energy_data.catalogue import Catalogue

    return Catalogue.load()
