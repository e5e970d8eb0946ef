"""What a text, a file or a workspace spent in one run, as far as it was measured, and what is not part of that sum.

Only what was measured at the calls themselves is added up, for each machine and meter on its own, and without counting
nested calls twice. Everything else has a number of its own: calls that other runs of the same program measured, calls known
only from elsewhere, calls that the meter could not resolve, calls of which nothing is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from energy_lsp.presentation.notation.units import counted, marked

if TYPE_CHECKING:
    from energy_data.model import Figure

SOURCES = ("here", "team")


class MachineKey(NamedTuple):
    """What sums are kept apart by."""

    source: str
    machine: str
    meter: str
    estimated: bool


class MachineSum(NamedTuple):
    """What the calls took that one machine measured with one meter."""

    key: MachineKey
    joules: float
    calls: int

    @property
    def text(self) -> str:
        """Such as `12.3 J in 4 calls`."""
        return f"{marked(self.joules, self.key.estimated)} in {counted(self.calls, 'call')}"


class Account(NamedTuple):
    """Sums by machine, those of this one first, and how many calls are not in them."""

    machines: Sequence[MachineSum] = ()
    other_runs: int = 0
    """Calls that ran in an older run of a program, and not in its last one."""
    elsewhere: int = 0
    """Calls of which only other calls' figures, predictions or published ones are known."""
    unresolved: int = 0
    """Calls that ran and took less than the meter can tell."""
    unknown: int = 0

    @classmethod
    def of(cls, costs: Iterable[tuple[Figure | None, int]]) -> Account:
        """Add up calls, given as figures and how often each runs."""
        sums: dict[MachineKey, tuple[float, int]] = {}
        other_runs = elsewhere = unresolved = unknown = 0
        for figure, times in costs:
            if figure is None:
                unknown += 1
            elif not is_measured(figure):
                elsewhere += 1
            elif (joules := figure.own_of_run(times)) is None:
                unresolved += 1
            elif not figure.of_last_run:
                other_runs += 1
            else:
                key = machine_of(figure)
                before, calls = sums.get(key, (0.0, 0))
                sums[key] = before + max(0.0, joules), calls + 1
        machines = sorted((MachineSum(key, *some) for key, some in sums.items()), key=_rank)
        return cls(machines, other_runs, elsewhere, unresolved, unknown)

    def __add__(self, other: object) -> Account:
        assert isinstance(other, Account)
        sums = {one.key: one for one in self.machines}
        for one in other.machines:
            known = sums.get(one.key, MachineSum(one.key, 0.0, 0))
            sums[one.key] = MachineSum(one.key, known.joules + one.joules, known.calls + one.calls)
        numbers = (mine + theirs for mine, theirs in zip(self[1:], other[1:], strict=True))
        return Account(sorted(sums.values(), key=_rank), *numbers)

    def as_json(self) -> list[Any]:
        """For another process."""
        return [[[list(one.key), one.joules, one.calls] for one in self.machines], *self[1:]]

    @classmethod
    def from_json(cls, fields: Sequence[Any]) -> Account:
        """What `as_json` gave."""
        machines = [MachineSum(MachineKey(*key), joules, calls) for key, joules, calls in fields[0]]
        return cls(machines, *fields[1:])

    @property
    def main(self) -> MachineSum | None:
        """The sum that counts where one is asked for: of this machine, else of a team's."""
        return self.machines[0] if self.machines else None

    @property
    def joules(self) -> float:
        """What the main machine measured."""
        return self.machines[0].joules if self.machines else 0.0

    @property
    def estimated(self) -> bool:
        """Whether the main sum is an estimate."""
        return self.machines[0].key.estimated if self.machines else False

    @property
    def meter(self) -> str:
        """The meter of the main sum."""
        return self.machines[0].key.meter if self.machines else ""

    @property
    def counted(self) -> int:
        """How many calls are in the sums."""
        return sum(one.calls for one in self.machines)

    @property
    def left_out(self) -> int:
        """How many are not."""
        return self.other_runs + self.elsewhere + self.unresolved + self.unknown

    @property
    def short(self) -> str:
        """The main sum where there is room for a number alone."""
        if self.main is None or self.joules <= 0.0:
            return "no figures" if self.left_out or self.counted else "no calls"
        return marked(self.joules, self.estimated)

    @property
    def label(self) -> str:
        """One short line: `⚡ at least 12.3 J in 4 calls, 2 unknown`."""
        if self.main is None:
            return f"⚡ {counted(self.left_out, 'call')} not measured here"
        sums = [self.main.text, *(f"{one.text} on {one.key.machine}" for one in self.machines[1:])]
        partial = "at least " if self.left_out else ""
        return f"⚡ {partial}{' · '.join(sums)}" + "".join(f", {part}" for part in self.rest())

    def rest(self) -> list[str]:
        """What is not in the sums, in words."""
        parts = (
            (self.other_runs, "of an older run"),
            (self.unresolved, "below what the meter can tell"),
            (self.elsewhere, "known only from elsewhere"),
            (self.unknown, "unknown"),
        )
        return [f"{number} {words}" for number, words in parts if number]


def is_measured(figure: Figure) -> bool:
    """True for what was measured at the call itself, here or by the team."""
    return figure.origin == "site" and figure.source != "published"


def counts(figure: Figure | None) -> bool:
    """True for what sums and ranks are made of: measured at the call in the last run of its program."""
    return figure is not None and is_measured(figure) and figure.of_last_run and figure.total is not None


def machine_of(figure: Figure) -> MachineKey:
    """The sum that a figure belongs to."""
    return MachineKey(figure.source, figure.machine, figure.meter, figure.estimated)


def _rank(one: MachineSum) -> tuple[int, int, MachineKey]:
    return (SOURCES.index(one.key.source), -one.calls, one.key)


NOTHING = Account()
