"""Lowering of scopes: where positions count from, which names a function binds, its parameters."""

from __future__ import annotations

from energy_code import node_fields as fields
from energy_code.codes import Code, FunctionCode, Parameter, ParameterKind, Scope, Unit
from energy_code.expressions import Expression
from energy_code.node_kinds import KINDS, PLAIN_IDENTIFIER, TOKENS, Node, kinds
from energy_code.values import UNKNOWN, Value

DEFAULT_PARAMETER = KINDS.index("default_parameter")
ANNOTATED = kinds("default_parameter", "typed_default_parameter", "typed_parameter")
SEPARATORS = kinds("keyword_separator")
MANY = kinds("list_splat_pattern")
KEYWORDS = kinds("dictionary_splat_pattern")

Cache = dict[tuple[str, int, bytes], Code]


class ScopeLowering:
    """The state of lowering one tree. `cache` and `old` carry functions and classes over from the versions before."""

    def __init__(self, source: bytes, cache: Cache | None = None, old: Cache | None = None) -> None:
        self.source = source
        self.letters = source.decode("latin-1")
        """The source with a character for each byte: cheap to take plain names from."""
        self.cache = cache if cache is not None else {}
        self.old = old if old is not None else {}
        self.base = 0
        self.home: Code = Unit(0)
        self.scope = Scope()
        self.prefix = ""
        self.depth = 0
        self.integers: dict[str, Expression] = {}
        self.texts: dict[str, Expression] = {}

    def expression(self, node: Node) -> Expression:
        """Lower any expression."""
        raise NotImplementedError

    def text(self, node: Node) -> str:
        """The text of a node."""
        text = self.letters[node.start_byte : node.end_byte]
        return text if text.isascii() else utf8(text)

    def parts(self, node: Node) -> list[Node]:
        """The children that are code."""
        return [child for child in node.children if child.kind_id not in TOKENS]

    def enter(self, code: Code, start: int) -> tuple[int, Code, Scope, str]:
        """Start a code of its own: positions count from `start`."""
        saved = (self.base, self.home, self.scope, self.prefix)
        self.home.parts.append((start - self.base, code))
        self.base, self.home, self.scope, self.prefix = start, code, Scope(), f"{code.qualname}."
        return saved

    def leave(self, code: Code, saved: tuple[int, Code, Scope, str]) -> None:
        """Finish it: its names are known now."""
        scope = self.scope
        self.base, self.home, self.scope, self.prefix = saved
        if isinstance(code, FunctionCode):
            names = scope.names
            names.update([parameter.name for parameter in code.parameters])
            code.blank = blank(code.parameters)
            names -= scope.globals
            names -= scope.nonlocals
            code.local_names = names
            code.globals, code.nonlocals = scope.globals, scope.nonlocals
            code.attributes = scope.attributes
            code.generator = scope.generator

    def parameters(self, node: Node) -> tuple[Parameter, ...]:
        """The parameters of a function or lambda."""
        result: list[Parameter] = []
        kind: ParameterKind = "plain"
        for child in node.children:
            form = child.kind_id
            if form in TOKENS:
                continue
            if form == PLAIN_IDENTIFIER:
                result.append(Parameter(self.text(child), kind))
            elif form == DEFAULT_PARAMETER and len(parts := child.children) == 3:
                result.append(Parameter(self.text(parts[0]), kind, None, self.expression(parts[2])))
            elif form in ANNOTATED:
                parameter = self.parameter(child, kind)
                kind = "keyword" if parameter.kind == "args" else kind
                result.append(parameter)
            elif form in SEPARATORS:
                kind = "keyword"
            elif form in MANY:
                result.append(Parameter(self.text(child).lstrip("* "), "args"))
                kind = "keyword"
            elif form in KEYWORDS:
                result.append(Parameter(self.text(child).lstrip("* "), "kwargs"))
        return tuple(result)

    def parameter(self, node: Node, kind: ParameterKind) -> Parameter:
        """`a=1`, `a: T`, `a: T = 1`, `*a: T`."""
        name = node.child_by_field_id(fields.NAME) or (node.named_children or [node])[0]
        annotation = node.child_by_field_id(fields.TYPE)
        default = node.child_by_field_id(fields.VALUE)
        text = self.text(name)
        if text.startswith("**"):
            kind = "kwargs"
        elif text.startswith("*"):
            kind = "args"
        return Parameter(
            text.lstrip("* "),
            kind,
            self.expression(annotation) if annotation is not None else None,
            self.expression(default) if default is not None else None,
        )


def blank(parameters: tuple[Parameter, ...]) -> dict[str, Value] | None:
    """Parameters of which nothing is known; None when one of them promises something."""
    names: dict[str, Value] = {}
    for parameter in parameters:
        if parameter.annotation is not None or parameter.kind == "args" or parameter.kind == "kwargs":
            return None
        names[parameter.name] = UNKNOWN
    return names


def utf8(letters: str) -> str:
    """The text whose bytes stand in a string as a character each."""
    return letters.encode("latin-1").decode("utf-8", "replace")
