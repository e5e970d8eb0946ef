"""Distil the shipped table of published figures from the raw GreenLight records.

    python tools/build_figures.py PATH [--output data/energy_data/published/figures.json]

PATH is the folder or the archive of the records. Net energy is computed by the importer itself, so the table
says what `energy-lsp db import greenlight` would store. Joules are given where the meter resolved at least
half of an API's records: median and middle half of all of them. Elsewhere `below` bounds every record, and is
absent where a record has no samples at all.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from energy_data.catalogue.naming import canonical
from energy_data.database.summaries import quartiles
from energy_data.model import DEVICES, Measurement, Run
from energy_data.studies.greenlight import ENVIRONMENT, MACHINE, METER, files, read_records

SHIPPED = Path(__file__).parent.parent / "data" / "energy_data" / "published" / "figures.json"
COLUMNS = (
    "api",
    "names",
    "records",
    "runs",
    "sites",
    "resolved",
    "bytes",
    "seconds",
    *DEVICES,
    "joules",
    "below",
)
ABOUT = {
    "source": (
        "Rajput, Kechagia, Sarro, Sharma: Greenlight: Highlighting TensorFlow APIs Energy Footprint, "
        "MSR 2024; raw records of SMART-Dal/greenlight at commit beba219, Apache-2.0"
    ),
    "licence": "Apache-2.0",
    "machine": MACHINE.label,
    "meter": METER,
    "tensorflow": ENVIRONMENT.tensorflow,
}


@dataclass
class Records:
    """All records of one API."""

    names: set[str] = field(default_factory=set)
    measured: list[tuple[Run, Measurement]] = field(default_factory=list)

    def row(self, api: str) -> list[Any]:
        """The API's row of the table."""
        measurements = [measurement for _, measurement in self.measured]
        metered = [m for m in measurements if len(m.joules) == len(DEVICES)]
        resolved = sum(m.resolved for m in measurements)
        known = 2 * resolved >= len(measurements)
        bounds = [math.inf if m.high is None else m.high for m in measurements]
        sizes = sorted(m.signature.total_bytes for m in measurements)
        values: dict[str, Any] = {
            "api": api,
            "names": sorted(self.names - {api}),
            "records": len(measurements),
            "runs": len({run.id for run, _ in self.measured}),
            "sites": len({(run.project, m.file, m.line) for run, m in self.measured}),
            "resolved": resolved,
            "bytes": [sizes[0], sizes[len(sizes) // 2], sizes[-1]],
            "seconds": _spread([m.seconds for m in measurements]),
            "joules": _spread([_total(m) for m in metered]) if known else None,
            "below": None if known or max(bounds) == math.inf else _rounded(max(bounds)),
        }
        for device in DEVICES:
            values[device] = _spread([m.joules[device].value for m in metered]) if known else None
        return [values[column] for column in COLUMNS]


def collect(path: Path) -> dict[str, Records]:
    """Read all files and sort their records by API."""
    apis: dict[str, Records] = {}
    for _, content in files(path):
        run, measurements = read_records(content)
        names = [name for record in json.loads(content) for name in record]
        for name, measurement in zip(names, measurements, strict=True):
            records = apis.setdefault(canonical(measurement.api), Records())
            records.names.add(name.removesuffix("()"))
            records.measured.append((run, measurement))
    return apis


def table(apis: dict[str, Records]) -> dict[str, Any]:
    """The whole table, with where it comes from."""
    dates = sorted(run.started[:10] for records in apis.values() for run, _ in records.measured)
    rows = [apis[api].row(api) for api in sorted(apis)]
    about = {
        **ABOUT,
        "date": dates[-1],
        "measured": f"{dates[0]} to {dates[-1]}",
        "names": len({name for records in apis.values() for name in records.names}),
        "records": sum(len(records.measured) for records in apis.values()),
        "made_by": "tools/build_figures.py",
        "spread": "lower quartile, median, upper quartile of all records; bytes: least, median, most",
    }
    return {"about": about, "columns": COLUMNS, "rows": rows}


def render(content: dict[str, Any]) -> str:
    """The table as JSON with a line for each API, so that a change of one shows as one."""
    rows = ",\n".join(json.dumps(row, separators=(",", ":"), ensure_ascii=False) for row in content["rows"])
    about = json.dumps(content["about"], indent=1, ensure_ascii=False)
    return f'{{"about": {about},\n"columns": {json.dumps(content["columns"])},\n"rows": [\n{rows}\n]}}\n'


def _total(measurement: Measurement) -> float:
    return math.fsum(quantity.value for quantity in measurement.joules.values())


def _spread(values: Sequence[float]) -> list[float]:
    return [_rounded(value) for value in quartiles(values)]


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("path", type=Path, help="folder or archive of the GreenLight records")
    parser.add_argument("--output", type=Path, default=SHIPPED)
    arguments = parser.parse_args()
    content = table(collect(arguments.path))
    arguments.output.write_text(render(content), encoding="utf-8")
    about = content["about"]
    print(f"{arguments.output}: {about['names']} published names, {about['records']} records")


if __name__ == "__main__":
    main()
