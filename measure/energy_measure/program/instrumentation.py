"""Puts probes around API calls: `f(a, b)` becomes `__energy_probe__(17, f, a, b)`, on the same line.

libcst writes the text, from the exact places where `energy_code` found calls. Nothing else changes: callee
and arguments stay where they stand, so they are evaluated once, in order, before the probe starts its clock,
and `super()`, `await`, `yield` or a walrus in them mean what they meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import libcst
from libcst.metadata import ByteSpanPositionProvider, MetadataWrapper

from energy_measure.injected.probe import NAME

LAMBDA_LAYERS = frozenset({"keras.layers.Lambda"})
"""These save the bytecode of their function with the model: a probe in it would be saved as well."""


@dataclass(frozen=True, slots=True)
class Target:
    """A call expression to put a probe around: its place in bytes of UTF-8, and the number of its site."""

    start_byte: int
    end_byte: int
    site: int
    api: str


def instrument(source: str, targets: Iterable[Target]) -> str:
    """The text of a file with probes around the given calls; raises `libcst.ParserSyntaxError`."""
    by_place = {(target.start_byte, target.end_byte): target for target in targets}
    if not by_place:
        return source
    wrapper = MetadataWrapper(libcst.parse_module(source), unsafe_skip_copy=True)
    return wrapper.visit(_Probes(by_place)).code


class _Probes(libcst.CSTTransformer):
    METADATA_DEPENDENCIES = (ByteSpanPositionProvider,)

    def __init__(self, targets: Mapping[tuple[int, int], Target]) -> None:
        super().__init__()
        self.targets = targets

    def _target(self, node: libcst.Call) -> Target | None:
        span = self.get_metadata(ByteSpanPositionProvider, node)
        return self.targets.get((span.start, span.start + span.length))

    def visit_Call(self, node: libcst.Call) -> bool:  # noqa: N802 (libcst's name)
        target = self._target(node)
        return target is None or target.api not in LAMBDA_LAYERS

    def leave_Call(  # noqa: N802 (libcst's name)
        self, original_node: libcst.Call, updated_node: libcst.Call
    ) -> libcst.BaseExpression:
        target = self._target(original_node)
        return updated_node if target is None else _probed(updated_node, target.site)


def _probed(call: libcst.Call, site: int) -> libcst.Call:
    space = libcst.SimpleWhitespace(" ")
    number = libcst.Arg(libcst.Integer(str(site)), comma=libcst.Comma(whitespace_after=space))
    callee = libcst.Arg(call.func, whitespace_after_arg=call.whitespace_after_func)
    arguments = [_parenthesised(argument) for argument in call.args]
    before = call.whitespace_before_args
    if arguments:
        after_comma = space if _is_empty(before) else before
        callee = callee.with_changes(comma=libcst.Comma(whitespace_after=after_comma))
    elif not _is_empty(before):
        callee = callee.with_changes(whitespace_after_arg=before)
    return call.with_changes(
        func=libcst.Name(NAME),
        args=[number, callee, *arguments],
        whitespace_after_func=libcst.SimpleWhitespace(""),
        whitespace_before_args=libcst.SimpleWhitespace(""),
    )


def _is_empty(whitespace: libcst.BaseParenthesizableWhitespace) -> bool:
    return isinstance(whitespace, libcst.SimpleWhitespace) and not whitespace.value


def _parenthesised(argument: libcst.Arg) -> libcst.Arg:
    """A generator expression may do without parentheses only as the single argument."""
    value = argument.value
    if isinstance(value, libcst.GeneratorExp) and not value.lpar:
        value = value.with_changes(lpar=[libcst.LeftParen()], rpar=[libcst.RightParen()])
    return argument.with_changes(value=value)
