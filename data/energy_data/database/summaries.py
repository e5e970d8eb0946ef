"""Ready answers, kept in step with the measurements: one row per call site and one per API.

A call site is its project, file, function and text, and which of several alike it is; its row holds what one machine and
meter found with one back end. What was measured on this machine goes before what came from others, and that before a study's
records. A call site is answered by its newest run, because the code may have changed since the older ones; records
imported from a study are of one state of the code, so those of one commit are taken together. An API in
general is answered by its call sites on the machine and meter used last. Calls seen while a function was
traced say nothing about the operation and are left out.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from energy_data.database.inserting import insert_rows
from energy_data.database.migrations import SITE_KEY
from energy_data.model import COVERS, DEVICES, Run, Source
from energy_data.published.netting import Z95
from energy_data.rows import Row
from energy_data.untrusted.printable import storable

if TYPE_CHECKING:
    from sqlite_utils import Database

API_NUMBER = -1
"""The `number` of the row that answers for an API in general (its `file` and `project` are empty)."""

SOURCES: tuple[Source, ...] = ("here", "team", "published")
"""Whose figures go first, where one database holds several."""


_TAKEN = (
    "api",
    "file",
    "line",
    "column",
    "function",
    "text",
    "kind",
    "project",
    "project_id",
    "source",
    "run_id",
    "machine_id",
    "machine",
    "meter",
    "backend",
    "device",
    "precision",
    "estimated",
    "started",
    "method",
)
_taken = itemgetter(*_TAKEN)
_identity = itemgetter(*(column for column in SITE_KEY if column != "number"))
_UNKNOWN: Row = dict.fromkeys([*DEVICES, "total", "low", "high"])
_DEVICE_COLUMNS = [f"{device}_joules" for device in DEVICES]

# A program that notes no back end is one of before there were others: its Keras ran on TensorFlow.
_SITE_ROWS = """
SELECT m.*, r.started, r.meter, r.estimated, r."commit", r.project, r.project_id, r.machine_id,
    r.command, e.tensorflow,
    CASE WHEN e.backend = '' THEN 'tensorflow' ELSE e.backend END AS backend, e.device, e.precision,
    CASE WHEN c.gpu = '' THEN c.cpu ELSE c.cpu || ' + ' || c.gpu END AS machine,
    CASE WHEN m.method = 'imported' THEN 'published'
         WHEN r.machine_id IN local_machines OR NOT EXISTS (SELECT 1 FROM local_machines) THEN 'here'
         ELSE 'team' END AS source
FROM measurements m JOIN runs r ON r.id = m.run_id
JOIN environments e ON e.id = r.environment_id JOIN machines c ON c.id = r.machine_id
WHERE m.api = ? AND m.file = ? AND m.at_trace_time = 0
"""
_NEWEST_FIRST = "ORDER BY r.started DESC, r.id DESC, m.line, m.column, m.id"
_SITE = " AND ".join(f"{column} = ?" for column in SITE_KEY)
_API_SITES = (
    f"SELECT * FROM summaries WHERE api = ? AND number <> {API_NUMBER} ORDER BY {', '.join(SITE_KEY)}"
)


def summarise_everything(db: Database) -> None:
    """Make all summaries anew, as after an upgrade or a prune."""
    db.conn.execute("DELETE FROM summaries")
    summarise(db, db.conn.execute("SELECT DISTINCT api, file FROM measurements").fetchall())


def summarise(db: Database, sites: Iterable[Sequence[Any]]) -> None:
    """Make the summaries of these call sites (api, file, …) and of their APIs anew."""
    touched = sorted({(storable(site[0]), storable(site[1])) for site in sites})
    db.conn.executemany("DELETE FROM summaries WHERE api = ? AND file = ?", touched)
    found = (_found(db, f"{_SITE_ROWS} {_NEWEST_FIRST}", site) for site in touched)
    insert_rows(db.conn, "summaries", (row for rows in found for row in _site_summaries(rows)))
    _summarise_apis(db, touched)


def summarise_run(db: Database, run: Run, sites: Iterable[Sequence[Any]]) -> None:
    """`summarise` after a run on this machine was added: where it is the newest, nothing else need be read.

    A site's history grows with every run; reading it again each time would make writers wait for each other.
    """
    touched = sorted({(storable(site[0]), storable(site[1])) for site in sites})
    made = []
    for place in touched:
        of_run = f"{_SITE_ROWS} AND m.run_id = ? ORDER BY m.line, m.column, m.id"
        for summary in _site_summaries(_found(db, of_run, (*place, run.id))):
            key = [summary[column] for column in SITE_KEY]
            known = db.conn.execute(f"SELECT started, run_id FROM summaries WHERE {_SITE}", key).fetchone()
            if known and (known["started"], known["run_id"]) > (run.started, run.id):
                continue
            db.conn.execute(f"DELETE FROM summaries WHERE {_SITE}", key)
            made.append(summary)
    insert_rows(db.conn, "summaries", made)
    _summarise_apis(db, touched)


def _summarise_apis(db: Database, sites: Iterable[Sequence[Any]]) -> None:
    general = []
    for api in sorted({site[0] for site in sites}):
        db.conn.execute("DELETE FROM summaries WHERE api = ? AND number = ?", (api, API_NUMBER))
        found = _found(db, _API_SITES, (api,))
        general += [_api_summary(found)] if found else []
    insert_rows(db.conn, "summaries", general)


def _found(db: Database, sql: str, parameters: Sequence[Any]) -> list[Row]:
    """Rows as dictionaries: SQLite's own rows look through all names for each value, and a million come through here."""
    cursor = db.conn.cursor()
    cursor.row_factory = None
    cursor.execute(sql, parameters)
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, values, strict=True)) for values in cursor]


def _site_summaries(rows: Sequence[Row]) -> list[Row]:
    """One summary for each call of an API in a file, by what identifies it. Rows come by run, newest first, and by place."""
    sites: dict[tuple[Any, ...], list[Row]] = {}
    for row, number in zip(rows, _numbers(rows), strict=True):
        sites.setdefault((*_identity(row), number), []).append(row)
    return [_site_summary(_answering(of_site), key[-1]) for key, of_site in sites.items()]


def _numbers(rows: Sequence[Row]) -> list[int]:
    """Which of the calls that look alike in one function each is; without a text its line has to do."""
    places: dict[tuple[Any, ...], list[tuple[int, int]]] = {}
    for row in rows:
        alike = places.setdefault((row["run_id"], row["function"], row["text"]), [])
        if (row["line"], row["column"]) not in alike:
            alike.append((row["line"], row["column"]))
    return [
        places[row["run_id"], row["function"], row["text"]].index((row["line"], row["column"])) + 1
        if row["text"]
        else row["line"]
        for row in rows
    ]


def program_of(command: str) -> str:
    """What a command runs, whatever arguments it is given: its runs are runs of one program."""
    words = command.split()
    if "-m" in words[:-1]:
        return words[words.index("-m") + 1]
    return next((word for word in words if word.endswith((".py", ".ipynb"))), command)


def _answering(rows: Sequence[Row]) -> list[Row]:
    """The rows, newest first, that speak for a call site."""
    newest = rows[0]
    same = ("method", "machine_id", "commit") if newest["source"] == "published" else ("run_id",)
    return [row for row in rows if all(row[key] == newest[key] for key in same)]


def _site_summary(rows: Sequence[Row], number: int) -> Row:
    newest = rows[0]
    resolved = [row for row in rows if row["resolved"] and _total(row) is not None]
    repeats = {row["run_id"]: row["repeats"] for row in rows}
    shapes = {row["arguments"] for row in rows}
    summary: Row = {
        **dict(zip(_TAKEN, _taken(newest), strict=True)),
        "number": number,
        "version": newest["tensorflow"],
        "program": program_of(newest["command"]),
        "arguments": shapes.pop() if len(shapes) == 1 else "[]",
        "runs": sum(repeats.values()),
        "measurements": len(rows),
        "sites": 1,
        "resolved": len(resolved),
        "seconds": _mean(rows, "seconds"),
        "times": round(sum(row["count"] for row in rows) / len(repeats)),
        "first": max((row["first_joules"] for row in rows if row["first_joules"] is not None), default=None),
        "exclusive": _mean(resolved, "exclusive_joules"),
        "spread": "interval",
        "covers": _covers(rows),
    }
    return {**summary, **(_pooled(resolved) if resolved else _bounded(rows))}


def _covers(rows: Sequence[Row]) -> str:
    """What the interval of these rows holds; where nobody noted it, as many runs tell of runs and one does not."""
    noted = {row["covers"] for row in rows} & {*COVERS}
    if len({row["run_id"] for row in rows}) > 1:
        return "sampling and runs"
    if noted - {""}:
        return str(min(noted, key=COVERS.index))
    return "sampling and runs" if max(row["repeats"] for row in rows) > 1 else "sampling"


def _pooled(rows: Sequence[Row]) -> Row:
    """The mean call of the resolved rows, with its 95% interval."""
    devices: Row = {device: _mean(rows, f"{device}_joules") for device in DEVICES}
    if len(rows) == 1:
        total = _total(rows[0])
        low, high = _interval(rows[0])
    else:
        weights = [_weight(row) for row in rows]
        totals = [_total(row) or 0.0 for row in rows]
        total = sum(w * t for w, t in zip(weights, totals, strict=True)) / sum(weights)
        errors = [(high - low) / (2 * Z95) for low, high in map(_interval, rows)]
        within = math.sqrt(sum((w * e) ** 2 for w, e in zip(weights, errors, strict=True))) / sum(weights)
        half = Z95 * max(within, _between_runs(rows))
        low, high = total - half, total + half
    return {**devices, "total": total, "low": low, "high": high, "below": None}


def _between_runs(rows: Sequence[Row]) -> float:
    """Standard error of the mean as the runs themselves show it; 0 for a single run."""
    by_run: dict[str, list[float]] = {}
    for row in rows:
        by_run.setdefault(row["run_id"], []).append(_total(row) or 0.0)
    means = [statistics.fmean(totals) for totals in by_run.values()]
    return statistics.stdev(means) / math.sqrt(len(means)) if len(means) > 1 else 0.0


def _bounded(rows: Sequence[Row]) -> Row:
    """What may be said of unresolved rows: the energy that each of them lies under, if all were metered."""
    metered = all(row["high"] is not None or _total(row) is not None for row in rows)
    return {**_UNKNOWN, "below": max(_interval(row)[1] for row in rows) if metered else None}


def _api_summary(sites: Sequence[Row]) -> Row:
    nearest = min((site["source"] for site in sites), key=SOURCES.index)
    newest = max(
        (site for site in sites if site["source"] == nearest),
        key=lambda site: (site["started"], site["run_id"], site["file"], site["line"], site["column"]),
    )
    general = {"file": "", "number": API_NUMBER, "project": "", "project_id": "", "function": "", "text": ""}
    same = ("source", "machine", "meter", "backend", "device", "precision")
    alike = [site for site in sites if all(site[key] == newest[key] for key in same)]
    if len(alike) == 1:
        return {**dict(newest), **general}
    numbers = {key: sum(site[key] for site in alike) for key in ("measurements", "sites", "resolved")}
    runs = {site["run_id"]: site["runs"] for site in alike}
    resolved = [site for site in alike if site["total"] is not None]
    summary = {**dict(newest), **general, **numbers, "runs": sum(runs.values()), "spread": "range"}
    summary |= {"first": None, "exclusive": None, "arguments": "[]", "covers": ""}
    summary["seconds"] = statistics.median(site["seconds"] for site in alike)
    if 2 * len(resolved) < len(alike):  # the middle call site lies under what the meter can tell
        bounds = [math.inf if (bound := _upper(site)) is None else bound for site in alike]
        return {**summary, **_UNKNOWN, "below": max(bounds) if max(bounds) < math.inf else None}
    low, total, high = quartiles([site["total"] for site in resolved])
    devices: Row = {device: _median([site[device] for site in resolved]) for device in DEVICES}
    return {**summary, **devices, "total": total, "low": low, "high": high, "below": None}


def quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    """Lower quartile, median, upper quartile."""
    if len(values) == 1:
        return values[0], values[0], values[0]
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, middle, high


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def _upper(site: Row) -> float | None:
    bound = site["below"] if site["below"] is not None else site["high"]
    return None if bound is None else float(bound)


def _weight(row: Row) -> int:
    return max(1, int(row["count"]) * int(row["repeats"]))


def _mean(rows: Sequence[Row], column: str) -> float | None:
    if len(rows) == 1:
        return rows[0][column]  # type: ignore[no-any-return]
    known = [row for row in rows if row[column] is not None]
    weight = sum(_weight(row) for row in known)
    return sum(_weight(row) * row[column] for row in known) / weight if known else None


def _total(row: Row) -> float | None:
    known = [row[column] for column in _DEVICE_COLUMNS if row[column] is not None]
    return math.fsum(known) if known else None


def _interval(row: Row) -> tuple[float, float]:
    """95% interval of a row's total: its own where it has one, else from its devices' standard errors."""
    total = _total(row) or 0.0
    half = Z95 * math.sqrt(sum((row[f"{device}_stderr"] or 0.0) ** 2 for device in DEVICES))
    low = row["low"] if row["low"] is not None else total - half
    high = row["high"] if row["high"] is not None else total + half
    return low, high
