"""Where an object comes from that a function is given: `step(model, optimizer, x)` of `train`, that of `main`.

A trace belongs to the objects it was made with. A step may be given its model and optimizer where every call in the file
hands down the same ones, through however many functions, and they are made once.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from energy_code.rule_engine.queries.program import FileNames

_CALLERS = 6
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.comprehension)


class PlaceInFunction(NamedTuple):
    """Something, in the function around it, and whether that runs it in a loop."""

    node: ast.AST
    function: ast.AST | None
    in_loop: bool


class Noted(NamedTuple):
    """The calls of a statement of the module by name, where it binds names, and how often it reads them."""

    calls: Mapping[str, Sequence[PlaceInFunction]]
    stores: Mapping[str, Sequence[PlaceInFunction]]
    reads: Mapping[str, int]


@lru_cache(maxsize=8192)
def _noted(tree: ast.Module) -> Noted:
    """Made once for each statement: most stay as they are from one key to the next."""
    calls: dict[str, list[PlaceInFunction]] = defaultdict(list)
    stores: dict[str, list[PlaceInFunction]] = defaultdict(list)
    reads: dict[str, int] = defaultdict(int)
    waiting = [PlaceInFunction(tree, None, in_loop=False)]
    while waiting:
        place = waiting.pop()
        node = place.node
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            calls[node.func.id].append(place)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            stores[node.id].append(place)
        elif isinstance(node, ast.Name):
            reads[node.id] += 1
        waiting += _inside(place)
    return Noted(calls, stores, reads)


class HandedDown:
    """What the functions of a file are given, and where that is made."""

    def __init__(self, program: FileNames) -> None:
        self.program = program
        self._noted = [_noted(part.tree) for _, _, part in program.parts]

    def is_one_object(self, function: ast.FunctionDef, parameter: str) -> bool:
        """Whether every call of a function gives one and the same object, made once, for a parameter."""
        found = {name for name, is_first in self.names(function, parameter) if is_first}
        return len(found) == 1 and all(name and self._is_made_once(name) for name in found)

    def counts(self, function: ast.AST | None, name: str) -> bool:
        """Whether a name of a function is handed down from a number that changes: each would be a graph of its own."""
        return any(
            is_first and self.program.is_number(one) and not self._is_made_once(one)
            for one, is_first in self.names(function, name)
        )

    def names(self, function: ast.AST | None, name: str) -> Iterator[tuple[str, bool]]:
        """What a name of a function is called by those who hand it down, and whether that is no parameter any more.

        An empty name for what cannot be told.
        """
        waiting, seen = [(function, name)], set[tuple[ast.AST | None, str]]()
        while waiting:
            asked = waiting.pop()
            if asked in seen:
                continue
            seen.add(asked)
            within, called = asked
            parameters = _parameters(within)
            yield called, called not in parameters
            if called not in parameters:
                continue
            calls = self._all_calls(within)
            if not calls:
                yield "", True
            for place in calls:
                given = _argument(place.node, parameters, called)
                if isinstance(given, ast.Name):
                    waiting.append((place.function, given.id))
                else:
                    yield "", True

    def _all_calls(self, function: ast.AST | None) -> Sequence[PlaceInFunction]:
        """The calls of a function; none where it is also used otherwise, or another has its name."""
        name = getattr(function, "name", "")
        calls = [place for part in self._noted for place in part.calls.get(name, ())]
        alone = len(self.program.functions.get(name, ())) == 1 and name not in self.program.methods
        return calls if alone and sum(part.reads.get(name, 0) for part in self._noted) == len(calls) else []

    def _is_made_once(self, name: str) -> bool:
        stores = [place for part in self._noted for place in part.stores.get(name, ())]
        return len(stores) == 1 and self._runs_once(stores[0], _CALLERS)

    def _runs_once(self, place: PlaceInFunction, depth: int) -> bool:
        if place.in_loop or not depth:
            return False
        if place.function is None:
            return True
        calls = self._all_calls(place.function)
        return len(calls) == 1 and self._runs_once(calls[0], depth - 1)


def _inside(place: PlaceInFunction) -> Iterator[PlaceInFunction]:
    """What a node is made of; a function that stands in a loop does not run in it, but where it is called."""
    node = place.node
    function = isinstance(node, _FUNCTIONS)
    in_loop = not function and (place.in_loop or isinstance(node, _LOOPS))
    for child in ast.iter_child_nodes(node):
        yield PlaceInFunction(child, node if function else place.function, in_loop)


def _parameters(function: ast.AST | None) -> list[str]:
    if not isinstance(function, _FUNCTIONS):
        return []
    given = function.args
    return [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]


def _argument(call: ast.AST, parameters: Sequence[str], name: str) -> ast.expr | None:
    """What a call gives for a parameter, by position or by name."""
    if not isinstance(call, ast.Call) or any(isinstance(one, ast.Starred) for one in call.args):
        return None
    number = parameters.index(name)
    if number < len(call.args):
        return call.args[number]
    return next((one.value for one in call.keywords if one.arg == name), None)
