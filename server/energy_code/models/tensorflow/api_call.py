"""A call of an API as what is modelled of TensorFlow sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from energy_code.interpreter.domain.arguments import Arguments
    from energy_code.interpreter.domain.values import Value
    from energy_code.ir.code import CallSite


class ApiCall(NamedTuple):
    """One call of an API as its effect sees it."""

    api: str
    receiver: Value | None
    arguments: Arguments
    result: Value
    site: CallSite | None
