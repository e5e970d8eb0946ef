"""One evaluation of one piece of code: its variables as the flow goes, and what was seen on the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from energy_code.iteration import length_of
from energy_code.values import UNKNOWN, Function, UserClass, Value

if TYPE_CHECKING:
    from energy_code.calls import Mode
    from energy_code.codes import Code, FunctionCode
    from energy_code.engine import Engine
    from energy_code.expressions import CallExpression, Expression
    from energy_code.facts import Facts
    from energy_code.modules import ClassInfo, Module
    from energy_code.reach import Reach

Answer = TypeVar("Answer")
Given = tuple[tuple[str, Value], ...]
Dependency = tuple[Callable[..., Any], tuple[Any, ...], Any]


class Site(NamedTuple):
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
        "checked",
        "classes",
        "defined",
        "dependencies",
        "facts",
        "frame",
        "globals",
        "invocations",
        "invoked_at",
        "leaned_on",
        "made",
        "marks",
        "outdated",
        "own",
        "own_next",
        "positions",
        "provisional",
        "reach",
        "replaced",
        "returns",
        "running",
        "sites",
        "surveyed_at",
        "used",
        "values",
        "verified",
        "verifying",
        "written",
    )

    def __init__(self) -> None:
        self.returns: Value = UNKNOWN
        self.sites: dict[CallExpression, Site] = EMPTY
        self.values: dict[Code, dict[Expression, Value]] = EMPTY
        self.positions: dict[Code, tuple[int, dict[tuple[int, int], Value]]] = {}
        self.invocations: list[tuple[Function, Given, Summary]] = NONE_SO_FAR
        self.marks: list[tuple[Function, Mode]] = NONE_SO_FAR
        self.defined: list[Function] = NONE_SO_FAR
        self.attributes: dict[str, Value] = EMPTY
        self.facts: Facts = EMPTY
        """What was left behind on objects of others."""
        self.written: dict[str, Value] = EMPTY
        """Globals of the module that were bound."""
        self.classes: dict[str, ClassInfo] = EMPTY
        """What a statement of the module's top level left of its classes."""
        self.globals: dict[str, Value] = EMPTY
        """Globals of the module that were read, with what they were."""
        self.dependencies: list[Dependency] = NONE_SO_FAR
        """Everything else that was asked."""
        self.frame: Frame | None = None
        self.changed_at = -1
        """The revision in which it came to give something else than before."""
        self.checked = -1
        """The revision at which the globals were last known to be the same."""
        self.running = False
        self.replaced = False
        """True once a newer evaluation stands in its place."""
        self.made = -1
        """The turn that first met the function called so."""
        self.used = -1
        """The turn that last asked for it."""
        self.invoked_at = -1
        """The revision in which the function was last called so."""
        self.surveyed_at = -1
        """The revision whose program, followed from its top, last called it so."""
        self.verified = -1
        self.verifying = False
        """True while its questions are asked again."""
        self.leaned_on = False
        """True when something looked at it meanwhile."""
        self.outdated = False
        """True when asking its questions again would not do: it may itself be what answers them."""
        self.provisional = -1
        self.own: list[tuple[str, Value | None]] = []
        """Attributes that it looked at itself while it ran, each with what it had set it to by then."""
        self.own_next = 0
        """Which of them is asked for next when its questions are asked again."""
        self.reach: Reach | None = None
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
        if self.own_next < len(self.own) and self.own[self.own_next][0] == name:
            self.own_next += 1
            return self.own[self.own_next - 1][1]
        return self.attributes.get(name)

    def conclude(self, frame: Frame) -> None:
        """Take over what a frame has seen."""
        hand_over(frame, self)
        self.values = frame.values_by_code
        self.attributes = frame.attributes


class Frame:
    """The state of one evaluation."""

    __slots__ = (
        "attributes",
        "code",
        "defined",
        "dependencies",
        "engine",
        "facts",
        "globals",
        "in_unknown_loop",
        "invocations",
        "is_function",
        "local_names",
        "marks",
        "module",
        "names",
        "outer",
        "owner",
        "receiver",
        "returned",
        "self_name",
        "sites",
        "slots",
        "times",
        "values",
        "values_by_code",
        "yielded",
    )

    def __init__(self, engine: Engine, module: Module, code: Code, outer: Frame | None) -> None:
        self.engine = engine
        self.module = module
        self.code = code
        self.outer = outer
        """The function frame whose names are visible here."""
        self.is_function = False
        self.local_names: set[str] | None = None
        self.owner: UserClass | None = None
        self.receiver: Value = UNKNOWN
        self.self_name: str | None = None
        self.names: dict[str, Value] = {}
        self.slots: dict[tuple[str, str], Value] = {}
        """Attributes assigned in this flow, by variable and attribute name."""
        self.attributes: dict[str, Value] = {}
        self.facts: Facts = {}
        self.sites: dict[CallExpression, Site] = {}
        self.values: dict[Expression, Value] = {}
        self.values_by_code: dict[Code, dict[Expression, Value]] = {code: self.values}
        self.invocations: list[tuple[Function, Given, Summary]] = []
        self.marks: list[tuple[Function, Mode]] = []
        self.defined: list[Function] = []
        self.globals: dict[str, Value] = {}
        self.dependencies: list[Dependency] = []
        self.returned: list[Value] = []
        self.yielded: list[Value] = []
        self.times = 1
        self.in_unknown_loop = False

    def nested(self, code: Code, owner: UserClass) -> Frame:
        """The frame of a class body: names of its own, everything it sees noted here."""
        frame = Frame(self.engine, self.module, code, self if self.is_function else self.outer)
        frame.owner = owner
        hand_over(self, frame)
        self.values_by_code[code] = frame.values
        frame.values_by_code = self.values_by_code
        frame.times, frame.in_unknown_loop = self.times, self.in_unknown_loop
        return frame

    def values_of(self, code: Code) -> dict[Expression, Value]:
        """Where values of expressions of another code (a function's header) are noted."""
        return self.values_by_code.setdefault(code, {})

    def lookup(self, name: str) -> Value:
        """A name that this frame has neither bound nor looked up so far."""
        if self.local_names is not None and name in self.local_names:
            return UNKNOWN
        frame = self.outer
        while frame is not None:
            value = frame.names.get(name)
            if value is not None:
                return value
            frame = frame.outer
        value = self.globals[name] = self.engine.global_value(self.module, name)
        return value

    def ask(self, question: Callable[..., Answer], *subject: Any) -> Answer:
        """Ask the engine something and remember the answer as a condition of this evaluation's result."""
        answer = question(*subject)
        self.dependencies.append((question, subject, answer))
        return answer

    def fields(self, cls: UserClass) -> list[str]:
        """The parameters of a data class or named tuple, asked like everything else."""
        names = self.ask(self.engine.field_names, cls, "__init__")
        return [str(name.value) for name in names.items]  # type: ignore[attr-defined]

    def ancestry(self, cls: UserClass) -> tuple[Value, ...]:
        """A class and all that it inherits from, asked like everything else."""
        answer = self.ask(self.engine.ancestry, cls, "__class__")
        return answer.items  # type: ignore[attr-defined,no-any-return]

    def bind(self, name: str, value: Value) -> None:
        """Assign a variable."""
        if self.slots:
            for key in [key for key in self.slots if key[0] == name]:
                del self.slots[key]
        local_names = self.local_names
        if local_names is not None and name not in local_names:
            self.bind_outside(name, value)
            return
        if not self.is_function and name in self.module.watched:
            self.engine.rebound(self.module, name, value)
        self.names[name] = value

    def bind_outside(self, name: str, value: Value) -> None:
        """A `global` or `nonlocal` name: bound where it belongs."""
        code: FunctionCode = self.code  # type: ignore[assignment]
        if name in code.globals:
            self.names[name] = value
            return
        frame = self.outer
        while frame is not None:
            if name in frame.names or (frame.local_names is not None and name in frame.local_names):
                frame.names[name] = value
                break
            frame = frame.outer
        self.names[name] = value

    def report(self, site: CallExpression, api: str, confidence: float, epochs: int = 1) -> None:
        """A call that reaches an API. What was seen first stays: later passes only make it less certain."""
        old = self.sites.get(site)
        if old is not None and old.api != api:
            self.sites[site] = old._replace(confidence=min(old.confidence, confidence, 0.5))
            return
        seen = (api, confidence, self.times, self.in_unknown_loop, epochs, False)
        self.sites[site] = tuple.__new__(
            Site, seen
        )  # without the detour through the constructor of a named tuple

    def enter_loop(self, iterable: Value) -> int | None:
        """Count a loop over `iterable` around what follows; its length where the source tells."""
        length = length_of(iterable)
        if length is None:
            self.in_unknown_loop = True
        else:
            self.times *= length
        return length


def hand_over(frame: Frame, to: Frame | Summary) -> None:
    """Let another evaluation, or the summary of this one, hold what was seen."""
    to.sites = frame.sites
    to.invocations = frame.invocations
    to.marks = frame.marks
    to.facts = frame.facts
    to.defined = frame.defined
    to.dependencies = frame.dependencies
    to.globals = frame.globals
