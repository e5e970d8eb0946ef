"""The words of the model as rows of the database, and back."""

from __future__ import annotations

import array
import hashlib
import json
import math
import sqlite3
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any

from energy_data.model import (
    COVERS,
    DEVICES,
    Calibration,
    CallSpan,
    Coefficient,
    Device,
    Environment,
    InputSignature,
    Inside,
    Machine,
    Measurement,
    MeterInfo,
    Part,
    Phase,
    Quantity,
    RuleEvidence,
    Run,
    Source,
    Trace,
)
from energy_data.untrusted.parsing import parse_json

LARGEST_TRACE = 64 * 1024 * 1024
"""Bytes of a power trace when it is unpacked: days of samples. A few kilobytes could hold gigabytes of zeros."""

Row = dict[str, Any]
Stored = Mapping[str, Any] | sqlite3.Row
"""A row as it comes back from the database."""


def content_id(*parts: object) -> str:
    """A name made from content: the same thing gets the same name on every machine."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True, default=asdict)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def identified(run_id: str, measurements: Iterable[Measurement]) -> Iterator[Measurement]:
    """Tie measurements to their run; those without an id get one from the run, their order and place."""
    for ordinal, measurement in enumerate(measurements):
        made = measurement.id or content_id(
            run_id, ordinal, measurement.api, measurement.file, measurement.line
        )
        yield replace(measurement, id=made, run_id=run_id)


def machine_row(machine: Machine) -> Row:
    """A machine, named by what it is."""
    row = asdict(machine)
    row["meters"] = json.dumps(row["meters"])
    return {"id": content_id(machine), **row}


def machine_from(row: Stored) -> Machine:
    """The machine of a row."""
    meters = tuple(
        MeterInfo(**{**meter, "devices": tuple(meter["devices"])}) for meter in parse_json(row["meters"])
    )
    return Machine(row["cpu"], row["gpu"], row["memory_bytes"], row["os"], row["driver"], meters)


def environment_row(environment: Environment) -> Row:
    """An environment, named by its versions."""
    return {"id": content_id(environment), **asdict(environment)}


def environment_from(row: Stored) -> Environment:
    """The environment of a row."""
    return Environment(**{field: row[field] for field in Environment.__slots__})


def run_row(run: Run) -> Row:
    """A run, pointing at its machine and environment."""
    return {
        "id": run.id,
        "machine_id": content_id(run.machine),
        "environment_id": content_id(run.environment),
        "command": run.command,
        "started": run.started,
        "meter": run.meter,
        "estimated": int(run.estimated),
        "stable": None if run.stable is None else int(run.stable),
        "commit": run.commit,
        "project": run.project,
        "temperatures": json.dumps(dict(run.temperatures), sort_keys=True),
        "seconds": run.seconds,
        "joules": json.dumps({device: [q.value, q.stderr] for device, q in run.joules.items()}),
        "unaccounted_joules": run.unaccounted_joules,
        "project_id": run.project_id,
        "status": run.status,
        "error": run.error,
        "repository": run.repository,
        "owner": run.owner,
        "branch": run.branch,
        "commit_date": run.commit_date,
        "settings": json.dumps(dict(run.settings), sort_keys=True),
        "temperature_series": json.dumps(dict(run.temperature_series), sort_keys=True),
        "stability_seconds": run.stability_seconds,
    }


def run_from(row: Stored, machine: Machine, environment: Environment) -> Run:
    """The run of a row."""
    return Run(
        id=row["id"],
        machine=machine,
        environment=environment,
        command=row["command"],
        started=row["started"],
        meter=row["meter"],
        estimated=bool(row["estimated"]),
        stable=None if row["stable"] is None else bool(row["stable"]),
        commit=row["commit"],
        project=row["project"],
        temperatures=parse_json(row["temperatures"]),
        seconds=row["seconds"],
        joules={device: Quantity(*pair) for device, pair in parse_json(row["joules"]).items()},
        unaccounted_joules=row["unaccounted_joules"],
        project_id=row["project_id"],
        status=row["status"],
        error=row["error"],
        repository=row["repository"],
        owner=row["owner"],
        branch=row["branch"],
        commit_date=row["commit_date"],
        settings=parse_json(row["settings"]),
        temperature_series={
            sensor: tuple((second, degrees) for second, degrees in series)
            for sensor, series in parse_json(row["temperature_series"]).items()
        },
        stability_seconds=row["stability_seconds"],
    )


def measurement_row(measurement: Measurement) -> Row:
    """A measurement as one flat row."""
    row: Row = {
        "id": measurement.id,
        "run_id": measurement.run_id,
        "api": measurement.api,
        "file": measurement.file,
        "line": measurement.line,
        "arguments": json.dumps(measurement.signature.arguments),
        "bytes_args": measurement.signature.bytes_args,
        "bytes_kwargs": measurement.signature.bytes_kwargs,
        "bytes_object": measurement.signature.bytes_object,
        "seconds": measurement.seconds,
        "count": measurement.count,
        "repeats": measurement.repeats,
        "resolved": int(measurement.resolved),
        "method": measurement.method,
        "at_trace_time": int(measurement.at_trace_time),
        "tail_joules": measurement.tail_joules,
        "low": measurement.low,
        "high": measurement.high,
        "exclusive_joules": measurement.exclusive_joules,
        "column": measurement.column,
        "function": measurement.function,
        "text": measurement.text,
        "kind": measurement.kind,
        "first_joules": measurement.first_joules,
        "first_seconds": measurement.first_seconds,
        "covers": measurement.covers,
    }
    for device in DEVICES:
        quantity = measurement.joules.get(device)
        row[f"{device}_joules"] = quantity.value if quantity else None
        row[f"{device}_stderr"] = quantity.stderr if quantity else None
    for key, value in row.items():
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"{measurement.api} at {measurement.file}:{measurement.line}: {key} is {value}")
    return row


def joules_from(row: Stored) -> dict[Device, Quantity]:
    """Net joules of the devices that were metered."""
    return {
        device: Quantity(row[f"{device}_joules"], row[f"{device}_stderr"])
        for device in DEVICES
        if row[f"{device}_joules"] is not None
    }


def measurement_from(row: Stored) -> Measurement:
    """The measurement of a row."""
    return Measurement(
        id=row["id"],
        run_id=row["run_id"],
        api=row["api"],
        file=row["file"],
        line=row["line"],
        signature=InputSignature(
            tuple(parse_json(row["arguments"])), row["bytes_args"], row["bytes_kwargs"], row["bytes_object"]
        ),
        seconds=row["seconds"],
        joules=joules_from(row),
        count=row["count"],
        repeats=row["repeats"],
        resolved=bool(row["resolved"]),
        method=row["method"],
        at_trace_time=bool(row["at_trace_time"]),
        tail_joules=row["tail_joules"],
        low=row["low"],
        high=row["high"],
        exclusive_joules=row["exclusive_joules"],
        column=row["column"],
        function=row["function"],
        text=row["text"],
        kind=row["kind"],
        first_joules=row["first_joules"],
        first_seconds=row["first_seconds"],
        covers=COVERS[COVERS.index(row["covers"])],
    )


def packed(values: Iterable[float]) -> bytes:
    """Numbers as compressed little-endian 32-bit floats: an hour at 10 ms fits in about a megabyte."""
    numbers = array.array("f", values)
    if sys.byteorder == "big":
        numbers.byteswap()
    return zlib.compress(numbers.tobytes())


def unpacked(blob: bytes) -> tuple[float, ...]:
    """The numbers of a packed blob."""
    numbers = array.array("f")
    packed = zlib.decompressobj()
    content = packed.decompress(blob, LARGEST_TRACE)
    if packed.unconsumed_tail:
        raise ValueError("a trace is longer than one can be")
    numbers.frombytes(content)
    if sys.byteorder == "big":
        numbers.byteswap()
    return tuple(numbers)


def trace_row(trace: Trace, run_id: str) -> Row:
    """A power trace, compressed."""
    return {
        "run_id": run_id,
        "device": trace.device,
        "samples": len(trace.seconds),
        "seconds": packed(trace.seconds),
        "watts": packed(trace.watts),
    }


def trace_from(row: Stored) -> Trace:
    """The power trace of a row."""
    return Trace(row["run_id"], row["device"], unpacked(row["seconds"]), unpacked(row["watts"]))


def span_row(span: CallSpan, run_id: str, number: int) -> Row:
    """When a call ran; `number` tells the calls of a run apart."""
    return {**asdict(span), "run_id": run_id, "number": number}


def span_from(row: Stored) -> CallSpan:
    """The span of a row."""
    return CallSpan(
        row["run_id"], row["api"], row["file"], row["line"], row["thread"], row["start"], row["end"]
    )


def evidence_row(evidence: RuleEvidence) -> Row:
    """Evidence of a rule, named by what it says; the source is where it is found, not what it says."""
    row = asdict(evidence)
    del row["source"]
    row["estimated"] = int(row["estimated"])
    return {"id": content_id(row), **row}


def evidence_from(row: Stored, source: Source) -> RuleEvidence:
    """The evidence of a row, as its source gives it."""
    fields = {key: row[key] for key in row.keys() if key != "id"}  # noqa: SIM118 - sqlite3.Row iterates values
    fields["estimated"] = bool(fields["estimated"])
    return RuleEvidence(**{**fields, "source": source})


def phase_row(phase: Phase, run_id: str) -> Row:
    """A phase of a run."""
    return {**asdict(phase), "run_id": run_id, "detail": json.dumps(dict(phase.detail), sort_keys=True)}


def phase_from(row: Stored) -> Phase:
    """The phase of a row."""
    return Phase(row["run_id"], row["name"], row["joules"], row["seconds"], parse_json(row["detail"]))


def part_row(part: Part, run_id: str, number: int) -> Row:
    """A part of a call; `number` tells the parts of a run apart."""
    lists = {
        "operations": json.dumps(dict(part.operations)),
        "repeats": json.dumps(part.repeats),
        "fused": json.dumps(part.fused),
    }
    return {**asdict(part), **lists, "run_id": run_id, "number": number}


def part_from(row: Stored) -> Part:
    """The part of a row."""
    lists = ("operations", "repeats", "fused")
    plain = {field: row[field] for field in Part.__slots__ if field not in lists}
    operations = {str(name): float(joules) for name, joules in parse_json(row["operations"]).items()}
    fused = tuple((str(path), str(file), int(line)) for path, file, line in parse_json(row["fused"]))
    repeats = tuple(map(float, parse_json(row["repeats"])))
    return Part(**plain, operations=operations, repeats=repeats, fused=fused)


def inside_row(inside: Inside, run_id: str) -> Row:
    """How a run was looked into, as one row."""
    flows, sparse = json.dumps(inside.flows), json.dumps(dict(inside.sparse))
    return {
        "run_id": run_id,
        "note": inside.note,
        "looked_at": inside.looked_at,
        "flows": flows,
        "sparse": sparse,
        "lines": json.dumps({file: dict(lines) for file, lines in inside.lines.items()}),
    }


def inside_from(row: Stored) -> Inside:
    """How a run was looked into, from its row."""
    flows = tuple((str(one), str(other)) for one, other in parse_json(row["flows"]))
    sparse = {str(name): float(value) for name, value in parse_json(row["sparse"]).items()}
    lines = {
        str(file): {int(line): str(text) for line, text in found.items()}
        for file, found in parse_json(row["lines"]).items()
    }
    return Inside(row["run_id"], row["note"], row["looked_at"], flows, sparse, lines)


def calibration_row(calibration: Calibration) -> Row:
    """A calibration, pointing at its environment."""
    row = asdict(calibration)
    del row["environment"]
    return {
        **row,
        "environment_id": content_id(calibration.environment),
        "estimated": int(calibration.estimated),
        "quick": int(calibration.quick),
    }


def calibration_from(row: Stored, environment: Environment) -> Calibration:
    """The calibration of a row."""
    plain = {field: row[field] for field in Calibration.__slots__ if field != "environment"}
    flags = {"estimated": bool(row["estimated"]), "quick": bool(row["quick"])}
    return Calibration(**{**plain, **flags}, environment=environment)


def coefficient_row(coefficient: Coefficient) -> Row:
    """The cost model of one API as one row."""
    return {
        **asdict(coefficient),
        "values": json.dumps(coefficient.values),
        "reach": json.dumps(coefficient.reach),
    }


def coefficient_from(row: Stored) -> Coefficient:
    """The cost model of a row."""
    return Coefficient(
        **{
            **{field: row[field] for field in Coefficient.__slots__},
            "values": tuple(map(float, parse_json(row["values"]))),
            "reach": tuple(map(float, parse_json(row["reach"]))),
        }
    )
