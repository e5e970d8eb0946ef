"""What a campaign found: a row a project, and the report over all of them."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from energy_data.database.database import Database
from energy_data.model import DEVICES, Measurement, Run
from energy_lsp.presentation.notation.units import duration, fine_percent, joules
from energy_lsp.report.summary_page import SummaryPage

if TYPE_CHECKING:
    from energy_measure.campaign.results import JobOutcome

TOP_APIS = 20


@dataclass(frozen=True, slots=True)
class ProjectRow:
    """One project on one machine and back end."""

    project: str
    host: str
    jobs: int
    measured: int
    joules: float | None
    """Net energy of a run, median; None where nothing was measured."""
    seconds: float | None
    shares: dict[str, float]
    """Of the energy, by device."""
    estimated: bool
    costliest: str


@dataclass(frozen=True, slots=True)
class ApiRow:
    """One API over all projects of a machine."""

    api: str
    joules: float
    """Of all its calls, nested calls taken off."""
    share: float
    """Of all calls of all APIs."""
    projects: int


def project_rows(database: Path, outcomes: Sequence[JobOutcome]) -> list[ProjectRow]:
    """A row for each project, machine and back end: energy of different machines is never put together."""
    groups: dict[tuple[str, str], list[JobOutcome]] = {}
    for outcome in outcomes:
        name = outcome.job.project + (f" ({outcome.job.backend})" if outcome.job.backend else "")
        groups.setdefault((name, outcome.host), []).append(outcome)
    with Database.read(database) as found:
        runs = {run.id: run for run in found.runs()}
        return [_row(found, runs, name, host, group) for (name, host), group in groups.items()]


def _row(
    database: Database, runs: dict[str, Run], name: str, host: str, outcomes: Sequence[JobOutcome]
) -> ProjectRow:
    mine = [runs[run_id] for outcome in outcomes for run_id in outcome.runs if run_id in runs]
    totals = [_total(run) for run in mine if run.joules]
    by_device = {
        device: sum(run.joules[device].value for run in mine if device in run.joules) for device in DEVICES
    }
    whole = sum(by_device.values())
    calls = [call for run in mine[-1:] for call in database.measurements(run.id) if call.resolved]
    costliest = max(calls, key=_energy, default=None)
    return ProjectRow(
        project=name,
        host=host,
        jobs=len(outcomes),
        measured=sum(outcome.measured for outcome in outcomes),
        joules=statistics.median(totals) if totals else None,
        seconds=statistics.median(run.seconds for run in mine) if mine else None,
        shares={device: energy / whole for device, energy in by_device.items() if energy and whole},
        estimated=any(run.estimated for run in mine),
        costliest=f"{costliest.api}, {costliest.file}:{costliest.line}" if costliest else "",
    )


def api_rows(database: Path, outcomes: Iterable[JobOutcome]) -> dict[str, list[ApiRow]]:
    """Per machine, the APIs by what all their calls took."""
    with Database.read(database) as found:
        runs = {run.id: run for run in found.runs()}
        sums: dict[str, dict[str, float]] = {}
        projects: dict[tuple[str, str], set[str]] = {}
        for outcome in outcomes:
            for run in (runs[run_id] for run_id in outcome.runs if run_id in runs):
                label = run.machine.label
                for call in found.measurements(run.id):
                    if call.resolved:
                        apis = sums.setdefault(label, {})
                        apis[call.api] = apis.get(call.api, 0.0) + _own_energy(call)
                        projects.setdefault((label, call.api), set()).add(outcome.job.project)
    return {
        label: sorted(_api_rows(label, apis, projects), key=lambda row: -row.joules)[:TOP_APIS]
        for label, apis in sums.items()
    }


def _api_rows(
    label: str, apis: dict[str, float], projects: dict[tuple[str, str], set[str]]
) -> Iterator[ApiRow]:
    whole = sum(apis.values()) or 1.0
    for api, energy in apis.items():
        yield ApiRow(api, energy, energy / whole, len(projects[label, api]))


def failures(outcomes: Iterable[JobOutcome]) -> list[tuple[str, str]]:
    """What was not measured and why; jobs of a project that failed for the same reason are one row."""
    groups: dict[tuple[str, str], list[JobOutcome]] = {}
    for outcome in outcomes:
        if not outcome.measured:
            groups.setdefault((outcome.job.project, outcome.failure), []).append(outcome)
    return [
        (group[0].job.label if len(group) == 1 else f"{project}: {len(group)} jobs", failure)
        for (project, failure), group in groups.items()
    ]


def write_report(path: Path, name: str, database: Path, outcomes: Sequence[JobOutcome]) -> None:
    """The report over all projects as one page."""
    page = SummaryPage(f"Campaign {name}")
    rows = project_rows(database, outcomes)
    measured = sum(outcome.measured for outcome in outcomes)
    page.text(f"{measured} of {len(outcomes)} jobs were measured.")
    if any(row.estimated for row in rows):
        page.text("Figures marked ≈ are estimated from CPU time: their machine has no energy sensors.")
    page.heading("Projects")
    page.table(
        ["project", "machine", "runs", "net energy of a run (median)", "time", "by device", "costliest call"],
        (
            (
                row.project,
                row.host,
                f"{row.measured} of {row.jobs}",
                ("≈ " if row.estimated else "") + joules(row.joules)
                if row.joules is not None
                else "not measured",
                duration(row.seconds) if row.seconds is not None else "",
                ", ".join(f"{device} {share:.0%}" for device, share in row.shares.items()),
                row.costliest,
            )
            for row in rows
        ),
        numbers=(2, 3, 4),
    )
    for label, apis in api_rows(database, outcomes).items():
        page.heading(f"APIs on {label}")
        page.text("All calls of all runs, without the calls nested in them.")
        page.table(
            ["API", "net energy", "share of all calls", "projects"],
            ((row.api, joules(row.joules), fine_percent(row.share), str(row.projects)) for row in apis),
            numbers=(1, 2, 3),
        )
    failed = failures(outcomes)
    if failed:
        page.heading("Not measured")
        page.table(["job", "why"], failed)
    page.write(path)


def _total(run: Run) -> float:
    return sum(quantity.value for quantity in run.joules.values())


def _energy(call: Measurement) -> float:
    return sum(quantity.value for quantity in call.joules.values()) * call.count


def _own_energy(call: Measurement) -> float:
    return _energy(call) if call.exclusive_joules is None else call.exclusive_joules * call.count
