"""Running alternatives: each from the same state, and what they leave joined behind them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from energy_code.interpreter.domain.lattice import join
from energy_code.interpreter.domain.values import Value
from energy_code.ir.nodes import Statement
from energy_code.ir.statements import run

if TYPE_CHECKING:
    from energy_code.interpreter.frame import Frame

Names = dict[str, Value]
Slots = dict[tuple[str, str], Value]


def run_branches(frame: Frame, branches: list[Callable[[], bool]]) -> bool:
    """Run alternatives from the same state and join what they leave."""
    names, slots = frame.names, frame.slots
    ends: list[tuple[Names, Slots]] = []
    for branch in branches:
        frame.names, frame.slots = names.copy(), slots.copy()
        if branch():
            ends.append((frame.names, frame.slots))
    if not ends:
        frame.names, frame.slots = names, slots
        return False
    frame.names, frame.slots = ends[0]
    for other_names, other_slots in ends[1:]:
        merge(frame, names, other_names)
        merge_slots(frame, other_slots)
    return True


def run_either(frame: Frame, first: tuple[Statement, ...], second: tuple[Statement, ...]) -> bool:
    """Run one or the other: two branches, as most alternatives are."""
    names, slots = frame.names, frame.slots
    frame.names, frame.slots = names.copy(), slots.copy()
    goes_on = run(frame, first)
    end_names, end_slots = frame.names, frame.slots
    frame.names, frame.slots = names.copy(), slots.copy()
    if not run(frame, second):
        frame.names, frame.slots = (end_names, end_slots) if goes_on else (names, slots)
        return goes_on
    if goes_on:
        other_names, other_slots = frame.names, frame.slots
        frame.names, frame.slots = end_names, end_slots
        merge(frame, names, other_names)
        merge_slots(frame, other_slots)
    return True


def run_dead(frame: Frame, branch: Callable[[], bool]) -> None:
    """Run what the flow never comes to, for the calls in it."""
    state = frame.names, frame.slots, dict(frame.attributes), list(frame.returned)
    frame.names, frame.slots = dict(frame.names), dict(frame.slots)
    branch()
    frame.names, frame.slots, frame.attributes, frame.returned = state


def run_maybe(frame: Frame, body: tuple[Statement, ...]) -> None:
    """Run statements that the flow may also pass by."""
    names, slots = frame.names, frame.slots
    frame.names, frame.slots = names.copy(), slots.copy()
    if run(frame, body):
        if frame.names != names:
            merge(frame, names, names)
        merge_slots(frame, slots)
    else:
        frame.names, frame.slots = names, slots


def merge(frame: Frame, before: Names, other: Names) -> None:
    """Join the variables of another branch into the frame; `before` is the state both started from."""
    names = frame.names
    for name, value in other.items():
        mine = names.get(name)
        if mine is None:
            mine = before_branch(frame, before, name)
            names[name] = value if mine is None else join(mine, value)
        elif mine is not value:
            names[name] = join(mine, value)
    if len(names) != len(other):  # it has all of the other's by now
        for name in names.keys() - other.keys():
            old = before_branch(frame, before, name)
            if old is not None:
                names[name] = join(names[name], old)


def before_branch(frame: Frame, before: Names, name: str) -> Value | None:
    """What a name was before the branches, also when an earlier top-level statement bound it."""
    old = before.get(name)
    if old is None and frame.local_names is None and frame.owner is None:
        old = frame.ask(frame.program.modules.bound_so_far, frame.module, name)
    return old


def merge_slots(frame: Frame, other: Slots) -> None:
    """Attributes that only one branch assigned are no longer certain: their owner is asked again."""
    mine = frame.slots
    for key in list(mine):
        if key not in other:
            del mine[key]
        elif mine[key] is not other[key]:
            mine[key] = join(mine[key], other[key])
