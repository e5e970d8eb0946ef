"""What a test says of a variable: `isinstance(x, Dense)`, `tf.is_tensor(x)`, alone or under `not`, `and`, `or`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from energy_code.interpreter.domain.annotations import declared_by
from energy_code.interpreter.domain.definitions import UserClass, UserInstance
from energy_code.interpreter.domain.lattice import join_all
from energy_code.interpreter.domain.values import (
    TENSOR,
    UNKNOWN,
    ApiClass,
    ApiFunction,
    ApiInstance,
    External,
    Sequence,
    Value,
    options_of,
)
from energy_code.ir.expressions import (
    Attribute,
    Both,
    CallExpression,
    Choice,
    Name,
)
from energy_code.ir.nodes import Expression
from energy_code.ir.operators import Operator

if TYPE_CHECKING:
    from energy_code.interpreter.frame import Frame

TESTS = frozenset(["isinstance", "is_tensor"])
FOREIGN = frozenset(
    [
        *(f"builtins.{name}" for name in ("bool", "dict", "float", "int", "list", "str", "tuple")),
        "numpy.ndarray",
    ]
)
"""Classes that no object of TensorFlow is of."""
Narrowed = dict[str, Value]


def tells(test: Expression) -> bool:
    """True when a test may say something of a variable."""
    kind = type(test)
    if kind is CallExpression:
        function = test.function  # type: ignore[attr-defined]
        name = function.id if type(function) is Name else function.name if type(function) is Attribute else ""
        return name in TESTS
    if kind is Operator:
        return test.symbol == "not" and tells(test.operands[0])  # type: ignore[attr-defined]
    if isinstance(test, Choice) and test.test is None:
        return any(map(tells, test.options))
    return False


def narrowed(frame: Frame, test: Expression, holds: bool) -> Narrowed:
    """The variables of which more is known where a test holds, or where it does not."""
    kind = type(test)
    if kind is Operator:
        return narrowed(frame, test.operands[0], not holds)  # type: ignore[attr-defined]
    if kind is CallExpression:
        return by_call(frame, test, holds)  # type: ignore[arg-type]
    found: Narrowed = {}
    if holds is isinstance(test, Both):
        for option in test.options:  # type: ignore[attr-defined]
            if tells(option):
                found |= narrowed(frame, option, holds)
    return found


def by_call(frame: Frame, test: CallExpression, holds: bool) -> Narrowed:
    """`isinstance(x, A)` or `tf.is_tensor(x)`."""
    target = test.positional[0] if test.positional else None
    if type(target) is not Name:
        return {}
    function = test.function.evaluate(frame)
    if type(function) is External and function.name == "builtins.isinstance" and len(test.positional) == 2:
        classes = flattened(test.positional[1].evaluate(frame))
    elif type(function) is ApiFunction and function.name.endswith(".is_tensor"):
        classes = [ApiClass(TENSOR)]
    else:
        return {}
    old = target.evaluate(frame)
    new = where_true(frame, old, classes) if holds else where_false(frame, old, classes)
    return {target.id: new} if new != old else {}


def flattened(classes: Value) -> list[Value]:
    """The classes of the second argument of `isinstance`."""
    if type(classes) is Sequence and classes.items is not None:
        return [inner for item in classes.items for inner in flattened(item)]
    return [classes]


def where_true(frame: Frame, value: Value, classes: list[Value]) -> Value:
    """What a value is that is of one of the classes: the options that fit, else what the classes declare."""
    options = options_of(value)
    fitting = tuple(option for option in options if any(is_of(frame, option, cls) for cls in classes))
    if fitting:
        return join_all(fitting)
    if all(type(cls) is External and cls.name in FOREIGN for cls in classes):
        return join_all(tuple(o for o in options if type(o) not in (ApiInstance, UserInstance)))
    foreign = all(type(option) is ApiInstance for option in options)  # who comes here is another one
    if foreign or UNKNOWN in options or any(is_wider(frame, o, cls) for o in options for cls in classes):
        known = tuple(declared for cls in classes if (declared := declared_by(frame, cls)) is not UNKNOWN)
        return join_all(known) if known else value
    return value


def where_false(frame: Frame, value: Value, classes: list[Value]) -> Value:
    """What a value is that is of none of the classes."""
    rest = tuple(
        option for option in options_of(value) if not any(is_of(frame, option, cls) for cls in classes)
    )
    return join_all(rest) if rest else value


def is_of(frame: Frame, value: Value, cls: Value) -> bool:
    """True for an instance of the class or of one that inherits from it."""
    if type(value) is UserInstance:
        if type(cls) is UserClass:
            return cls in frame.ancestry(value.cls)
        names = [base.name for base in frame.ancestry(value.cls) if type(base) is ApiClass]
    else:
        names = [value.cls] if type(value) is ApiInstance else []
    return type(cls) is ApiClass and any(
        frame.program.public.catalogue.is_subclass(name, cls.name) for name in names
    )


def is_wider(frame: Frame, value: Value, cls: Value) -> bool:
    """True when a value was only known by a class that this one inherits from."""
    return (
        type(value) is ApiInstance
        and type(cls) is ApiClass
        and frame.program.public.catalogue.is_subclass(cls.name, value.cls)
    )


def take_over(frame: Frame, found: Narrowed) -> dict[str, Value | None]:
    """Let variables be what a test says; gives what they were."""
    before = {name: frame.names.get(name) for name in found}
    frame.names.update(found)
    return before


def give_back(frame: Frame, found: Narrowed, before: dict[str, Value | None]) -> None:
    """Forget what a test said, of variables that were not bound anew since."""
    names = frame.names
    for name, old in before.items():
        if names.get(name) is found[name]:
            if old is None:
                del names[name]
            else:
                names[name] = old


def evaluate_where(frame: Frame, test: Expression, holds: bool, expression: Expression) -> Value:
    """What an expression gives where a test holds, or where it does not."""
    found = narrowed(frame, test, holds)
    before = take_over(frame, found)
    value = expression.evaluate(frame)
    give_back(frame, found, before)
    return value


class TellingChoice(Choice):
    """`a if test else b` whose test says something of a variable."""

    __slots__ = ()

    def alternatives(self, frame: Frame) -> list[Value]:
        """Both options, each knowing what the test says."""
        assert self.test is not None
        return [
            evaluate_where(frame, self.test, holds, option)
            for option, holds in zip(self.options, (True, False), strict=True)
        ]


class TellingBoth(Both):
    """`a and b` whose first operand says something of a variable: the others are evaluated where it holds."""

    __slots__ = ()

    def alternatives(self, frame: Frame) -> list[Value]:
        """The operands in order."""
        first, *others = self.options
        return [first.evaluate(frame), *[evaluate_where(frame, first, True, option) for option in others]]
