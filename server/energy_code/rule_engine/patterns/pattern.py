"""Patterns: Python with `$name` holes, compiled once and matched against the editor's own tree."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from energy_code.rule_engine.context import LITERALS, RuleContext, bare
from energy_code.rule_engine.patterns.signatures import OPERATORS, SIGNATURES, Signature, parse

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

    from energy_data.catalogue.catalogue import Catalogue

_HOLE = re.compile(r"\$(\w+)(\??)")
_OPERATIONS = ("binary_operator", "comparison_operator")
_COMMUTATIVE = frozenset("+*")
_DTYPE = re.compile(r"tf\.(?:bool|string|u?int\d+|b?float\d+|complex\d+)")


@dataclass(eq=False, slots=True)
class State:
    """What a match has bound so far."""

    place: RuleContext
    captures: dict[str, Node]
    operations: tuple[tuple[OperatorPattern, Node, Node], ...] = ()
    """Operators between operands, in the order of the pattern."""

    def is_proven(self) -> bool:
        """Whether one operand of each operator is proven to be a tensor."""
        return all(part.is_proven(left, right, self.place) for part, left, right in self.operations)


class PatternPart:
    """One node of a pattern."""

    kinds: Collection[str] | None = None
    """The only kinds of syntax that can fit; None when any can."""

    def match(self, node: Node, state: State) -> bool:
        """Whether the node fits, binding holes on the way."""
        raise NotImplementedError

    def parts(self) -> Iterator[PatternPart]:
        """The parts one level below."""
        return iter(())


@dataclass(eq=False)
class Hole(PatternPart):
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
class ConstantPattern(PatternPart):
    """A literal, compared by value: `1`, `1.0` and `1.` are the same."""

    value: object
    kinds = LITERALS

    def match(self, node: Node, state: State) -> bool:
        """Compare values."""
        value = state.place.constant(node)
        return isinstance(value, bool) == isinstance(self.value, bool) and value == self.value


@dataclass(eq=False)
class Dtype(PatternPart):
    """A type such as `tf.float64`, also written `np.float64` or `"float64"`."""

    name: str

    def match(self, node: Node, state: State) -> bool:
        """Compare names."""
        return state.place.dtype_name(node) == self.name


@dataclass(eq=False)
class CallPattern(PatternPart):
    """A call of an API with exactly these arguments, others only at their defaults."""

    api: str
    arguments: Mapping[str, PatternPart]
    signature: Signature
    method: bool
    kinds = ("call",)

    def __post_init__(self) -> None:
        self.required = [
            (name, part.kinds)
            for name, part in self.arguments.items()
            if not (isinstance(part, Hole) and part.optional)
        ]

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
        bound = known[key]
        if bound is None or not bound.keys() <= self.arguments.keys():
            return False
        for name, kinds in self.required:  # before anything is compared: most calls fail here
            given = bound.get(name)
            if given is None or (kinds is not None and given.type not in kinds):
                return False
        return all(self.arguments[name].match(given, state) for name, given in bound.items())

    def needs(self) -> tuple[Need, ...]:
        """The arguments that must be given, a method's own object left out."""
        names = list(self.signature)
        places = {name: place - self.method for place, name in enumerate(names)}
        own = names[0] if self.method else None
        return tuple(
            [Need(places.get(name, -1), name, kinds) for name, kinds in self.required if name != own]
        )

    def parts(self) -> Iterator[PatternPart]:
        """The arguments."""
        return iter(self.arguments.values())


@dataclass(eq=False)
class OperatorPattern(PatternPart):
    """An operator, or the function that an operator between tensors is."""

    symbol: str
    left: PatternPart
    right: PatternPart
    functions: tuple[str, ...]
    kinds = (*_OPERATIONS, "call")

    def match(self, node: Node, state: State) -> bool:
        """Compare the operands, in both orders where that makes no difference."""
        operands = self._operands(node, state.place)
        if operands is None:
            return False
        first, second, written_as_call = operands
        orders = [(first, second), (second, first)] if self.symbol in _COMMUTATIVE else [(first, second)]
        for left, right in orders:
            if not (_fits(self.left, left) and _fits(self.right, right)):
                continue
            trial = State(state.place, dict(state.captures), state.operations)
            if self.left.match(left, trial) and self.right.match(right, trial):
                operation = () if written_as_call else ((self, left, right),)
                state.captures, state.operations = trial.captures, trial.operations + operation
                return True
        return False

    def _operands(self, node: Node, place: RuleContext) -> tuple[Node, Node, bool] | None:
        if node.type in _OPERATIONS:
            children = [child for child in node.children if child.type != "comment"]
            if len(children) != 3 or children[1].type != self.symbol:
                return None
            return bare(children[0]), bare(children[2]), False
        if node.type == "call" and place.api(node) in self.functions:
            bound = bind(place, node, parse("x, y"), method=False)
            if bound is not None and len(bound) == 2 and "x" in bound and "y" in bound:
                return bound["x"], bound["y"], True
        return None

    def is_proven(self, left: Node, right: Node, place: RuleContext) -> bool:
        """Whether one operand is a tensor."""
        for part, node in ((self.left, left), (self.right, right)):
            if isinstance(part, CallPattern) or place.is_tensor(node):
                return True
            if isinstance(part, OperatorPattern) and part._has_call():
                return True
        return False

    def _has_call(self) -> bool:
        return any(
            isinstance(p, CallPattern) or (isinstance(p, OperatorPattern) and p._has_call())
            for p in self.parts()
        )

    def needs(self) -> tuple[Need, ...]:
        """The operands, as arguments of the function that stands for the operator."""
        kinds = [None, None] if self.symbol in _COMMUTATIVE else [self.left.kinds, self.right.kinds]
        return tuple([Need(place, "xy"[place], one) for place, one in enumerate(kinds)])

    def parts(self) -> Iterator[PatternPart]:
        """Both operands."""
        return iter((self.left, self.right))


@dataclass(eq=False)
class SyntaxPattern(PatternPart):
    """Any other piece of Python: same kind of node, same tokens, parts in the same order."""

    kind: str
    children: Sequence[PatternPart | str]

    def __post_init__(self) -> None:
        self.kinds = (self.kind,)

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
                if part != child.type and part != state.place.text(child):
                    return False
            elif not part.match(bare(child), state):
                return False
        return True

    def parts(self) -> Iterator[PatternPart]:
        """The parts that are not mere tokens."""
        return (child for child in self.children if isinstance(child, PatternPart))


def _fits(part: PatternPart, node: Node) -> bool:
    """Whether a node is of a kind that a part can be."""
    return part.kinds is None or node.type in part.kinds


def same_api(found: str | None, wanted: str) -> bool:
    """Whether a call's API is the wanted one, or the same method of a subclass (`keras.Sequential.fit`)."""
    if found is None or found == wanted:
        return found is not None
    owner, _, method = wanted.rpartition(".")
    found_owner, _, found_method = found.rpartition(".")
    if method != found_method or not _is_method(wanted):
        return False
    return catalogue().is_subclass(found_owner, owner)


def _is_method(api: str) -> bool:
    return api.rpartition(".")[0].rpartition(".")[2][:1].isupper()


def bind(place: RuleContext, call: Node, signature: Signature, method: bool) -> dict[str, Node] | None:
    """Arguments by parameter name, without parentheses and defaults; None when they cannot be distinguished."""
    arguments = call.child_by_field_name("arguments")
    if arguments is None or arguments.type != "argument_list":
        return None
    bound: dict[str, Node] = {}
    names = list(signature)
    position = 0
    if method:
        receiver = place.receiver(call)
        if receiver is None:
            return None
        bound[names[0]] = receiver
        position = 1
    for child in arguments.named_children:
        kind = child.type
        if kind == "comment":
            continue
        if kind in ("list_splat", "dictionary_splat"):
            return None
        if kind == "keyword_argument":
            parts = child.named_children
            if len(parts) != 2:
                return None
            bound[place.text(parts[0])] = parts[1]
        else:
            bound[names[position] if position < len(names) else str(position)] = child
            position += 1
    for name, value in list(bound.items()):
        default = signature.get(name)
        if default is not None and place.text(value) == default:
            del bound[name]
        elif value.type == "parenthesized_expression":
            bound[name] = bare(value)
    return bound


class Need(NamedTuple):
    """An argument that a call must be given to match: its position (−1: by keyword alone), its name, and its kinds."""

    position: int
    name: str
    kinds: Collection[str] | None


@dataclass(eq=False)
class Pattern:
    """A compiled pattern, and where to look for it."""

    root: PatternPart
    anchor: str
    """API whose calls are looked at; or, with `depth` −1, a token of the text such as `**`."""
    depth: int
    """How many levels the whole expression lies above the anchor call."""
    inside: frozenset[str] = frozenset()
    """APIs that the arguments of the anchor must call."""
    near: frozenset[str] = frozenset()
    """APIs that the expression must call."""
    needs: tuple[Need, ...] = ()
    """What the anchor must be given."""

    def whole(self, anchor: Node) -> Node | None:
        """The expression around an anchor that may match; None when it is of another kind."""
        node: Node | None = anchor
        for _ in range(self.depth):
            node = _above(node) if node is not None else None
        return node if node is not None and self._may_be(node) else None

    def _may_be(self, node: Node) -> bool:
        if isinstance(self.root, OperatorPattern) and self.depth:  # as a function it is an anchor of its own
            return node.type in _OPERATIONS
        return _fits(self.root, node)

    def match(self, place: RuleContext, whole: Node) -> State | None:
        """Match an expression: what it bound, None when it does not fit."""
        state = State(place, {})
        return state if self.root.match(whole, state) else None


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
    near = frozenset(_functions(root))
    found = _anchor(root, 0)
    if found is not None:
        anchor, depth = found
        inside = frozenset(api for part in anchor.parts() for api in _functions(part))
        yield Pattern(root, anchor.api, depth, inside, near, anchor.needs())
    else:
        yield Pattern(root, _token(root, text), -1)
    if isinstance(root, OperatorPattern):
        for function in root.functions:
            yield Pattern(root, function, 0, near, near, root.needs())


def _functions(part: PatternPart) -> Iterator[str]:
    """APIs within that no other name stands for, as it does for methods that subclasses inherit."""
    if isinstance(part, CallPattern) and not _is_method(part.api):
        yield part.api
    for below in part.parts():
        yield from _functions(below)


def _anchor(part: PatternPart, depth: int) -> tuple[CallPattern, int] | None:
    if isinstance(part, CallPattern):
        return part, depth
    for below in part.parts():
        found = _anchor(below, depth + 1)
        if found is not None:
            return found
    return None


def _token(root: PatternPart, text: str) -> str:
    if isinstance(root, OperatorPattern):
        return root.symbol
    return text.partition("$")[0]


class _Compiler:
    def __init__(self, source: str, signatures: Sequence[tuple[str, str]]) -> None:
        self.source = source.encode()
        self.signatures = {**SIGNATURES, **dict(signatures)}

    def text(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte].decode()

    def part(self, node: Node) -> PatternPart:
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
        if node.type in _OPERATIONS:
            return self._operator(node)
        children = [c for c in node.children if c.type not in (",", "(", ")")]
        if not children:
            return SyntaxPattern(node.type, [text])
        return SyntaxPattern(node.type, [self.part(c) if c.is_named else self.text(c) for c in children])

    def _constant(self, node: Node) -> PatternPart | None:
        try:
            return ConstantPattern(ast.literal_eval(self.text(node)))
        except ValueError:
            return None

    def _operator(self, node: Node) -> PatternPart:
        left, symbol, right = node.children
        functions = tuple(canonical(name) for name in OPERATORS.get(symbol.type, ()))
        return OperatorPattern(symbol.type, self.part(left), self.part(right), functions)

    def _call(self, node: Node) -> PatternPart:
        function = node.child_by_field_name("function")
        arguments = node.child_by_field_name("arguments")
        assert function is not None
        assert arguments is not None
        name = self.text(function)
        if not name.startswith(("tf.", "keras.")):
            children = [self.part(function) if "__" in name else name, self.part(arguments)]
            return SyntaxPattern("call", children)
        signature = parse(self.signatures.get(name, ""))
        names = list(signature)
        bound: dict[str, PatternPart] = {}
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
        return CallPattern(canonical(name), bound, signature, names[:1] == ["self"])


def canonical(name: str) -> str:
    """The canonical name of an API as patterns write it (`tf.…`, `keras.…`)."""
    found = catalogue().canonical(name)
    if found is None:
        raise ValueError(f"the catalogue does not know {name}")
    return found


@functools.lru_cache(maxsize=1)
def _parser() -> Parser:
    # patterns of rules are declared on import; the parser loads when the first is matched
    import tree_sitter
    import tree_sitter_python

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_python.language()))


@functools.lru_cache(maxsize=1)
def catalogue() -> Catalogue:
    """The catalogue of API names, loaded once."""
    # likewise: the list of rules is shown without it
    from energy_data.catalogue.catalogue import Catalogue

    return Catalogue.load()
