"""One evaluation of one piece of code: its variables as the flow goes, and what was seen on the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from energy_code.interpreter.domain.definitions import Function, Module, Scope, UserClass
from energy_code.interpreter.domain.values import UNKNOWN, Value
from energy_code.interpreter.operations.dispatch import ATTRIBUTES, CALLS, INDEXES, ITERATIONS
from energy_code.interpreter.operations.loop_counts import length_of
from energy_code.interpreter.summary import CallContext, Dependency, ResolvedCall, Summary, Writes

if TYPE_CHECKING:
    from energy_code.interpreter.domain.arguments import Arguments
    from energy_code.interpreter.program import Program
    from energy_code.ir.code import CallSite, Code, FunctionCode
    from energy_code.ir.nodes import Expression
    from energy_code.model import Mode

Answer = TypeVar("Answer")


class Frame:
    """The state of one evaluation."""

    __slots__ = (
        "attributes",
        "code",
        "defined",
        "dependencies",
        "external_writes",
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
        "program",
        "receiver",
        "returned",
        "self_name",
        "sites",
        "slots",
        "times",
        "values",
        "values_by_code",
        "writes_outside",
        "yielded",
    )

    def __init__(self, program: Program, module: Module, code: Code, outer: Scope | None) -> None:
        self.program = program
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
        self.external_writes: Writes = {}
        self.sites: dict[CallSite, ResolvedCall] = {}
        self.values: dict[Expression, Value] = {}
        self.values_by_code: dict[Code, dict[Expression, Value]] = {code: self.values}
        self.invocations: list[tuple[Function, CallContext, Summary]] = []
        self.marks: list[tuple[Function, Mode]] = []
        self.defined: list[Function] = []
        self.globals: dict[str, Value] = {}
        self.dependencies: list[Dependency] = []
        self.returned: list[Value] = []
        self.yielded: list[Value] = []
        self.times = 1
        self.in_unknown_loop = False
        self.writes_outside = False
        """True once it has bound a name of a function around it, or filled what stands there."""

    def nested(self, code: Code, owner: UserClass) -> Frame:
        """The frame of a class body: names of its own, everything it sees noted here."""
        frame = Frame(self.program, self.module, code, self if self.is_function else self.outer)
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
        value = self.globals[name] = self.program.modules.global_value(self.module, name)
        return value

    def call(self, callee: Value, arguments: Arguments, site: CallSite | None) -> Value:
        """What `callee(arguments)` gives. `site` is None for calls that Python makes without one being written."""
        handler = CALLS.get(type(callee))
        return handler(self, callee, arguments, site) if handler is not None else UNKNOWN

    def attribute(self, value: Value, name: str) -> Value:
        """What `value.name` gives."""
        handler = ATTRIBUTES.get(type(value))
        return handler(self, value, name) if handler is not None else UNKNOWN

    def iterate(self, value: Value) -> Value:
        """What `for x in value` binds x to."""
        handler = ITERATIONS.get(type(value))
        return handler(self, value) if handler is not None else UNKNOWN

    def index(self, value: Value, key: Value) -> Value:
        """What `value[key]` gives."""
        handler = INDEXES.get(type(value))
        return handler(self, value, key) if handler is not None else UNKNOWN

    def ask(self, question: Callable[..., Answer], *subject: Any) -> Answer:
        """Ask the engine something and remember the answer as a condition of this evaluation's result."""
        answer = question(*subject)
        self.dependencies.append((question, subject, answer))
        return answer

    def fields(self, cls: UserClass) -> list[str]:
        """The parameters of a data class or named tuple, asked like everything else."""
        names = self.ask(self.program.classes.field_names, cls, "__init__")
        return [str(name.value) for name in names.items]  # type: ignore[attr-defined]

    def ancestry(self, cls: UserClass) -> tuple[Value, ...]:
        """A class and all that it inherits from, asked like everything else."""
        answer = self.ask(self.program.classes.ancestry, cls, "__class__")
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
            self.program.modules.rebound(self.module, name, value)
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
                self.writes_outside = True
                break
            frame = frame.outer
        self.names[name] = value

    def report(self, site: CallSite, api: str, confidence: float, epochs: int = 1) -> None:
        """A call that reaches an API. What was seen first stays: later passes only make it less certain."""
        old = self.sites.get(site)
        if old is not None and old.api != api:
            self.sites[site] = old._replace(confidence=min(old.confidence, confidence, 0.5))
            return
        seen = (api, confidence, self.times, self.in_unknown_loop, epochs, False)
        self.sites[site] = tuple.__new__(
            ResolvedCall, seen
        )  # without the detour through the constructor of a named tuple

    def enter_loop(self, iterable: Value) -> int | None:
        """Count a loop over `iterable` around what follows; its length where the source tells."""
        length = length_of(iterable)
        if length is None:
            self.in_unknown_loop = True
        else:
            self.times *= length
        return length


def conclude(frame: Frame, summary: Summary) -> None:
    """Put what a frame has seen into the summary of its evaluation."""
    hand_over(frame, summary)
    summary.values = frame.values_by_code
    summary.attributes = frame.attributes
    summary.writes_outside = frame.writes_outside


def hand_over(frame: Frame, to: Frame | Summary) -> None:
    """Let another evaluation, or the summary of this one, hold what was seen."""
    to.sites = frame.sites
    to.invocations = frame.invocations
    to.marks = frame.marks
    to.external_writes = frame.external_writes
    to.defined = frame.defined
    to.dependencies = frame.dependencies
    to.globals = frame.globals
