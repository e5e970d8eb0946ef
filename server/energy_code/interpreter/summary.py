"""What one evaluation of a code found, and the stamps that say how long it may be kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from energy_code.interpreter.domain.definitions import ClassInfo, Function, Module, UserClass
from energy_code.interpreter.domain.values import UNKNOWN, Value
from energy_code.ir.code import CallSite, Code, FunctionCode
from energy_code.ir.nodes import Expression

if TYPE_CHECKING:
    from energy_code.model import Mode

CallContext = tuple[tuple[str, Value], ...]
"""What a function was given: parameters and values, in the order of the parameters."""
Dependency = tuple[Callable[..., Any], tuple[Any, ...], Any]
"""A question, what it was asked about, and the answer."""
Writes = dict[tuple[UserClass | Module, str], Value]
"""By class and attribute, or by module and global: what it is set to, or what is added to the container it holds."""


class Running(Protocol):
    """What others may see of an evaluation that has not ended."""

    names: dict[str, Value]
    attributes: dict[str, Value]


class ReadSet(NamedTuple):
    """What an evaluation has looked at itself, as bits, and whose results it has used."""

    bits: int
    used: list[tuple[FunctionCode, Summary]]


class ResolvedCall(NamedTuple):
    """An API call as one evaluation saw it."""

    api: str
    confidence: float
    times: int
    in_unknown_loop: bool
    epochs: int = 1
    decorator: bool = False


EMPTY: dict[Any, Any] = {}
NONE_SO_FAR: list[Any] = []
"""What an evaluation holds until it is concluded; nothing is ever added to them."""


class Summary:
    """What one evaluation of a code found; kept for as long as everything it looked at stays the same."""

    __slots__ = (
        "attributes",
        "changed_at",
        "classes",
        "defined",
        "depended_on",
        "dependencies",
        "external_writes",
        "first_pass",
        "frame",
        "globals",
        "globals_checked_at",
        "in_cycle",
        "invocations",
        "invoked_at",
        "last_pass",
        "made_at",
        "marks",
        "newer",
        "next_own_read",
        "outdated",
        "own_reads",
        "positions",
        "provisional",
        "read_set",
        "replaced",
        "returns",
        "running",
        "shown",
        "sites",
        "summarised_at",
        "touched_at",
        "values",
        "verified_at",
        "verifying",
        "writes_outside",
        "written",
    )

    def __init__(self) -> None:
        self.returns: Value = UNKNOWN
        self.sites: dict[CallSite, ResolvedCall] = EMPTY
        self.values: dict[Code, dict[Expression, Value]] = EMPTY
        self.positions: dict[Code, dict[tuple[int, int], Value]] = {}
        self.invocations: list[tuple[Function, CallContext, Summary]] = NONE_SO_FAR
        self.marks: list[tuple[Function, Mode]] = NONE_SO_FAR
        self.defined: list[Function] = NONE_SO_FAR
        self.attributes: dict[str, Value] = EMPTY
        self.external_writes: Writes = EMPTY
        """What was left behind on objects of others."""
        self.written: dict[str, Value] = EMPTY
        """Globals of the module that were bound."""
        self.classes: dict[str, ClassInfo] = EMPTY
        """What a statement of the module's top level left of its classes."""
        self.globals: dict[str, Value] = EMPTY
        """Globals of the module that were read, with what they were."""
        self.dependencies: list[Dependency] = NONE_SO_FAR
        """Everything else that was asked."""
        self.frame: Running | None = None
        self.changed_at = -1
        """The revision in which it came to give something else than before."""
        self.globals_checked_at = -1
        """The revision at which the globals were last known to be the same."""
        self.made_at = -1
        """The revision in which it was made."""
        self.in_cycle = False
        """True for one of several that rest on each other: what they find depends on which of them began."""
        self.writes_outside = False
        """True when it has bound a name of a function around it: what that one found depends on when it was called."""
        self.running = False
        self.replaced = False
        """True once a newer evaluation stands in its place."""
        self.newer: Summary | None = None
        """That one."""
        self.shown: tuple[Summary, ...] = ()
        """What was reported in its place at the last reading, where it was made again after it had been looked at."""
        self.first_pass = -1
        """The pass that first met the function called so."""
        self.last_pass = -1
        """The pass that last asked for it."""
        self.invoked_at = -1
        """The revision in which the function was last called so."""
        self.summarised_at = -1
        """The revision whose program, followed from its top, last called it so."""
        self.verified_at = -1
        """The count of changes at which it was last known to hold."""
        self.touched_at = -1
        """The count of changes at which it, or something that it used, was found to have looked at what an edit changed."""
        self.verifying = False
        """True while its questions are asked again."""
        self.depended_on = False
        """True when something looked at it meanwhile."""
        self.outdated = False
        """True when asking its questions again would not do: it may itself be what answers them."""
        self.provisional = -1
        """While it runs, its depth on the stack; afterwards the cycle in which its result may be used unfinished."""
        self.own_reads: list[tuple[str, Value | None]] = []
        """Attributes that it looked at itself while it ran, each with what it had set it to by then."""
        self.next_own_read = 0
        """Which of them is asked for next when its questions are asked again."""
        self.read_set: ReadSet | None = None
        """What it has looked at; found out when that is first asked."""

    def same_for_others(self, newer: Summary) -> bool:
        """True when those who looked at this evaluation would see the same in the newer one."""
        return (
            self.returns == newer.returns
            and self.attributes == newer.attributes
            and self.written == newer.written
        )

    def own_attribute(self, name: str) -> Value | None:
        """What it had set an attribute to when it looked at it, asked in the same order again."""
        if self.next_own_read < len(self.own_reads) and self.own_reads[self.next_own_read][0] == name:
            self.next_own_read += 1
            return self.own_reads[self.next_own_read - 1][1]
        return self.attributes.get(name)
