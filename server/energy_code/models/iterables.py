"""Functions of the standard library that hand on elements: itertools, operator, random, asyncio, queues."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from energy_code.interpreter.domain.arguments import Arguments
from energy_code.interpreter.domain.lattice import element_of, join_all
from energy_code.interpreter.domain.values import UNKNOWN, Constant, ExternalInstance, Sequence, Value
from energy_code.ir.operators import operated

if TYPE_CHECKING:
    from energy_code.interpreter.frame import Frame

Handler = Callable[["Frame", "Arguments"], Value]


def element(frame: Frame, arguments: Arguments) -> Value:
    """What any element of the first argument may be."""
    return frame.iterate(arguments.positional[0]) if arguments.positional else UNKNOWN


def iterator(value: Value) -> Sequence:
    """An iterator over values of one kind."""
    return Sequence("iterator", None, value)


def elements(frame: Frame, arguments: Arguments) -> Value:
    """`random.sample(x, 3)`: the same elements, any number of them."""
    return Sequence("list", None, element(frame, arguments))


def make_groups(frame: Frame, arguments: Arguments) -> Value:
    """`itertools.groupby(x)`: keys and the elements that have them."""
    return iterator(Sequence("tuple", (UNKNOWN, iterator(element(frame, arguments)))))


def make_tuples(frame: Frame, arguments: Arguments) -> Value:
    """`itertools.combinations(x, 2)`, `pairwise(x)`: tuples of elements."""
    return iterator(Sequence("tuple", None, element(frame, arguments)))


def make_flat(frame: Frame, arguments: Arguments) -> Value:
    """`itertools.chain.from_iterable(x)`."""
    return iterator(frame.iterate(element(frame, arguments)))


def make_repeated(frame: Frame, arguments: Arguments) -> Value:
    """`itertools.repeat(x)`."""
    return iterator(arguments.positional[0] if arguments.positional else UNKNOWN)


def make_called(frame: Frame, arguments: Arguments) -> Value:
    """`itertools.starmap(f, x)`: f is called with the items of each element."""

    if len(arguments.positional) != 2:
        return UNKNOWN
    function, source = arguments.positional
    given = frame.iterate(source)
    items = list(given.items) if type(given) is Sequence and given.items is not None else []
    return iterator(frame.call(function, Arguments(items, {}, bool(items)), None))


def make_gathered(frame: Frame, arguments: Arguments) -> Value:
    """`asyncio.gather(a, b)`."""
    return Sequence("list", tuple(arguments.positional)) if arguments.complete else UNKNOWN


def make_queue(frame: Frame, arguments: Arguments) -> Value:
    """`queue.Queue()`: a list by other methods."""
    return Sequence("list", ())


def make_getter(kind: str) -> Handler:
    """`operator.itemgetter(0)`, `operator.attrgetter("name")`."""

    def handler(frame: Frame, arguments: Arguments) -> Value:
        if len(arguments.positional) != 1:
            return UNKNOWN
        return ExternalInstance(kind, arguments.positional[0])

    return handler


def get_item(frame: Frame, key: Value, arguments: Arguments) -> Value:
    """`itemgetter(0)(x)`."""
    return frame.index(arguments.positional[0], key) if arguments.positional else UNKNOWN


def get_attribute(frame: Frame, name: Value, arguments: Arguments) -> Value:
    """`attrgetter("a.b")(x)`."""

    value = arguments.positional[0] if arguments.positional else UNKNOWN
    for part in str(name.value).split(".") if type(name) is Constant else ():
        value = frame.attribute(value, part)
    return value if type(name) is Constant else UNKNOWN


def operate(symbol: str) -> Handler:
    """`operator.add(a, b)`: what `a + b` gives."""

    def handler(frame: Frame, arguments: Arguments) -> Value:

        return operated(symbol, arguments.positional) if arguments.complete else UNKNOWN

    return handler


def transposed(frame: Frame, rows: Value) -> Value:
    """`zip(*rows)`: the columns."""
    row = frame.iterate(rows)
    if type(row) is Sequence and row.items is not None:
        return Sequence("iterator", tuple(Sequence("tuple", None, item) for item in row.items))
    return iterator(Sequence("tuple", None, element_of(row) if type(row) is Sequence else frame.iterate(row)))


def make_longest(frame: Frame, arguments: Arguments) -> Value:
    """`itertools.zip_longest(a, b)`."""
    return iterator(Sequence("tuple", tuple(frame.iterate(value) for value in arguments.positional)))


def make_one(frame: Frame, arguments: Arguments) -> Value:
    """`asyncio.run(f())`, `asyncio.create_task(f())`: coroutines are not distinguished from their results."""
    return join_all(tuple(arguments.positional[:1]))


OPERATORS = {
    "add": "+",
    "floordiv": "//",
    "matmul": "@",
    "mod": "%",
    "mul": "*",
    "neg": "-",
    "pow": "**",
    "sub": "-",
    "truediv": "/",
}
FUNCTIONS: dict[str, Handler] = {
    "asyncio.create_task": make_one,
    "asyncio.gather": make_gathered,
    "asyncio.run": make_one,
    "itertools.chain.from_iterable": make_flat,
    "itertools.combinations": make_tuples,
    "itertools.groupby": make_groups,
    "itertools.pairwise": make_tuples,
    "itertools.permutations": make_tuples,
    "itertools.repeat": make_repeated,
    "itertools.starmap": make_called,
    "itertools.zip_longest": make_longest,
    "operator.attrgetter": make_getter("attrgetter"),
    "operator.itemgetter": make_getter("itemgetter"),
    "operator.getitem": lambda frame, arguments: (
        frame.index(*arguments.positional) if len(arguments.positional) == 2 else UNKNOWN
    ),
    **{f"operator.{name}": operate(symbol) for name, symbol in OPERATORS.items()},
    "queue.LifoQueue": make_queue,
    "queue.Queue": make_queue,
    "random.choice": element,
    "random.choices": elements,
    "random.sample": elements,
}
CALLED: dict[str, Callable[[Frame, Value, Arguments], Value]] = {
    "attrgetter": get_attribute,
    "itemgetter": get_item,
}
