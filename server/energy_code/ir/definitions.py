"""`def` and `class`: statements that run a body of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from energy_code.interpreter.domain.arguments import Arguments
from energy_code.interpreter.domain.definitions import ClassInfo, Function, Method, UserClass, class_info
from energy_code.interpreter.domain.values import UNKNOWN, ApiFunction, Value
from energy_code.ir.code import CallSite
from energy_code.ir.expressions import Attribute, Name
from energy_code.ir.nodes import Expression, Statement
from energy_code.ir.statements import run
from energy_code.ir.targets import define

if TYPE_CHECKING:
    from energy_code.interpreter.frame import Frame
    from energy_code.ir.code import ClassCode, FunctionCode


class Define(Statement):
    """`def`, with its decorators."""

    __slots__ = ("code", "decorators")

    def __init__(self, code: FunctionCode, decorators: tuple[tuple[Expression, CallSite], ...]) -> None:
        self.code = code
        self.decorators = decorators
        """Each decorator, and the call that Python makes with it."""

    def execute(self, frame: Frame) -> bool:
        """Bind the name to the function as its decorators leave it."""
        decorators = [(decorator.evaluate(frame), site) for decorator, site in self.decorators]
        value: Value = define(frame, self.code, frame.owner if not frame.is_function else None)
        for decorator, site in reversed(decorators):
            value = decorate(frame, decorator, value, site)
        frame.bind(self.code.name, value)
        return True


def decorate(frame: Frame, decorator: Value, value: Value, site: CallSite) -> Value:
    """What a decorator makes of a function; unknown ones are taken to keep it."""
    bare = type(site.function) in (Name, Attribute)
    before = frame.sites.get(site)
    result = frame.call(decorator, Arguments([value], {}, True), site if bare else None)
    if bare and (found := frame.sites.get(site)) is not None and found is not before:
        frame.sites[site] = found._replace(decorator=True)
    if result is UNKNOWN or (
        type(decorator) is ApiFunction
        and type(value) is Function
        and type(result) is not type(value)
        and decorator.name != "tensorflow.function"
    ):
        return value
    return result


class DefineClass(Statement):
    """`class`, with its decorators."""

    __slots__ = ("code", "decorators")

    def __init__(self, code: ClassCode, decorators: tuple[tuple[Expression, CallSite], ...]) -> None:
        self.code = code
        self.decorators = decorators

    def execute(self, frame: Frame) -> bool:
        """Run the body in a frame of its own and hand the names over to the class."""
        decorators = [decorator.evaluate(frame) for decorator, _ in self.decorators]
        owner = frame.owner if not frame.is_function else None
        cls = UserClass(frame.module, frame.module.name_of(self.code, owner))
        inner = frame.nested(self.code, cls)
        bases = tuple(base.evaluate(inner) for base in self.code.bases)
        for _, keyword in self.code.keywords:
            keyword.evaluate(inner)
        program = frame.program
        info = ClassInfo(bases, inner.names, [])
        before = class_info(cls)
        setters = program.classes.setters(cls) if before is not None else {}
        program.classes.declare_class(cls, info)
        run(inner, self.code.body)
        program.classes.declare_class(cls, info)
        program.invalidation.class_declared(cls, before, setters)
        frame.bind(self.code.name, cls)
        for decorator in reversed(decorators):
            if (
                type(decorator) is Function or type(decorator) is Method
            ):  # it may register the class, and gives it back
                frame.call(decorator, Arguments([cls], {}, True), None)
        return True
