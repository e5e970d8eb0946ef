"""Published figures, shipped with the program: what a study found for hundreds of APIs on its own machine."""

from __future__ import annotations

import json
from functools import lru_cache
from importlib import resources
from typing import Any, NamedTuple

from energy_data.catalogue.naming import canonical
from energy_data.model import DEVICES, Figure, RuleEvidence
from energy_data.rows import evidence_from

TABLE = "figures.json"
EVIDENCE = "rule_evidence.jsonl"
WORKLOAD = "workload"
"""What tells the workload of a row of evidence from what it was before."""


@lru_cache(maxsize=1)
def table() -> dict[str, Any]:
    """The shipped table: `about` (source, machine, licence), `columns`, and one row of values per API."""
    loaded: dict[str, Any] = json.loads(_shipped(TABLE) or '{"about": {}, "columns": [], "rows": []}')
    return loaded


@lru_cache(maxsize=1)
def _by_name() -> dict[str, dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = {}
    for values in table()["rows"]:
        row = dict(zip(table()["columns"], values, strict=True))
        for name in (row["api"], *row["names"]):
            rows[name] = row
    return rows


def names() -> list[str]:
    """Every name that has a published figure."""
    return list(_by_name())


def published(api: str) -> Figure | None:
    """The published figure of an API, under its canonical name or the very text of the study."""
    rows = _by_name()
    row = rows.get(api) or rows.get(canonical(api))
    return None if row is None else _figure(row)


def _figure(row: dict[str, Any]) -> Figure:
    about = table()["about"]
    low, total, high = row["joules"] or (None, None, None)
    # A record may come out below its baseline by chance; a call cannot give energy back.
    devices = {device: max(0.0, row[device][1]) for device in DEVICES if row[device]}
    return Figure(
        api=row["api"],
        source="published",
        method="imported",
        estimated=False,
        machine=about["machine"],
        meter=about["meter"],
        date=about["date"],
        runs=row["runs"],
        measurements=row["records"],
        sites=row["sites"],
        resolved=row["resolved"],
        seconds=row["seconds"][1],
        total=total,
        low=None if low is None else max(0.0, low),
        high=high,
        devices=devices,
        below=row["below"],
        spread="range",
        citation=about["source"],
        version=about["tensorflow"],
    )


class _Shipped(NamedTuple):
    evidence: tuple[RuleEvidence, ...] = ()
    workloads: frozenset[str] = frozenset()


@lru_cache(maxsize=1)
def _shipped_evidence() -> dict[str, _Shipped]:
    by_rule: dict[str, _Shipped] = {}
    for line in _shipped(EVIDENCE).splitlines():
        row = json.loads(line)
        workload = row.pop(WORKLOAD, "")
        known = by_rule.get(row["rule"], _Shipped())
        by_rule[row["rule"]] = _Shipped(
            (*known.evidence, evidence_from(row, "published")), known.workloads | {workload}
        )
    return by_rule


def shipped_evidence(rule: str) -> tuple[RuleEvidence, ...]:
    """The evidence for a rule that ships with the program."""
    return _shipped_evidence().get(rule, _Shipped()).evidence


def shipped_workloads(rule: str) -> frozenset[str]:
    """The workloads on which the shipped evidence for a rule was measured."""
    return _shipped_evidence().get(rule, _Shipped()).workloads


def _shipped(name: str) -> str:
    file = resources.files("energy_data.published") / name
    return file.read_text(encoding="utf-8") if file.is_file() else ""
