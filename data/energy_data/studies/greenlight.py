"""Import of the raw GreenLight records: power around single TensorFlow calls, sampled every half second.

"Greenlight: Highlighting TensorFlow APIs Energy Footprint", Rajput, Kechagia, Sarro and Sharma, MSR 2024.
"""

from __future__ import annotations

import hashlib
import lzma
import math
import operator
import statistics
import tarfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from energy_data.catalogue.naming import canonical
from energy_data.database.database import Database
from energy_data.model import (
    Device,
    Environment,
    InputSignature,
    Machine,
    Measurement,
    MeterInfo,
    Quantity,
    Run,
)
from energy_data.published.netting import Z95, Net, Series, net_energy
from energy_data.rows import content_id
from energy_data.untrusted.parsing import parse_json
from energy_data.untrusted.reading import MEGABYTE, check, read_bytes
from energy_data.untrusted.walking import walk

METER = "perf (RAPL) and nvidia-smi, 0.5 s"
MACHINE = Machine(
    cpu="Intel Xeon Gold 5317",
    gpu="NVIDIA GeForce RTX 3070 Ti",
    memory_bytes=0,
    os="Ubuntu 22.04",
    driver="",
    meters=(
        MeterInfo("perf", ("cpu", "ram"), 0.5, 0.01, estimated=False),
        MeterInfo("nvidia-smi", ("gpu",), 0.5, 0.005, estimated=False),
    ),
)
ENVIRONMENT = Environment(python="", tensorflow="2.11", keras="2.11")

_ENERGY_STEP_JOULES = 0.01
_POWER_STEP_WATTS = 0.01
_GPU_AVERAGING_SECONDS = 1.0
"""An RTX 3070 Ti reports its power as a mean over the last second."""
LARGEST_FILE = 256 * MEGABYTE
LARGEST_ARCHIVE = 2048 * MEGABYTE
LARGEST_UNPACKED = 2048 * MEGABYTE
MOST_MEMBERS = 100_000
LARGEST_NAME = MEGABYTE
"""Of the headers that give a member a long name: tarfile takes them into memory whole."""


class Malformed(Exception):  # noqa: N818 - a finding about a file
    """A file that does not hold GreenLight records; `str()` of it is the reason."""


@dataclass(slots=True)
class ImportReport:
    """What an import did."""

    files: int = 0
    records: int = 0
    unresolved: int = 0
    known: int = 0
    """Files whose records were in the database already."""
    malformed: list[tuple[str, str]] = field(default_factory=list)
    """Names of files that could not be read, each with its reason."""


def import_greenlight(
    database: Database, path: Path, progress: Callable[[str], None] = lambda name: None
) -> ImportReport:
    """Import a folder, an archive or a single file of records; each file whole or not at all."""
    report = ImportReport()
    try:
        for name, content in files(path):
            progress(name)
            _import_file(database, name, content, report)
    except (tarfile.TarError, EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        report.malformed.append((str(path), f"cannot be read: {error}"))
    return report


def _import_file(database: Database, name: str, content: bytes, report: ImportReport) -> None:
    report.files += 1
    if database.has_run(run_id(content)):
        report.known += 1
        return
    try:
        run, measurements = read_records(content)
    except Malformed as reason:
        report.malformed.append((name, str(reason)))
        return
    if database.add_run(run, measurements):
        report.records += len(measurements)
        report.unresolved += sum(not measurement.resolved for measurement in measurements)


def files(path: Path) -> Iterator[tuple[str, bytes]]:
    """Names and contents of the record files in a folder or an archive, or of a single one."""
    if path.is_dir():
        for folder, names in walk(path, lambda folder, name: False):
            for file in [folder / name for name in names if name.endswith(".json")]:
                yield str(file), read_bytes(file, LARGEST_FILE, within=path)
    elif path.suffix == ".json":
        yield str(path), read_bytes(path, LARGEST_FILE)
    else:
        check(path, LARGEST_ARCHIVE)
        yield from _archived(path)


class _Member(tarfile.TarInfo):
    """A member whose name is not a bomb."""

    def _proc_member(self, archive: tarfile.TarFile) -> Any:
        if not self.isreg() and self.size > LARGEST_NAME:
            raise tarfile.TarError("a header in it is larger than a name can be")
        return super()._proc_member(archive)  # type: ignore[misc]


def _archived(path: Path) -> Iterator[tuple[str, bytes]]:
    """The records in an archive, unpacked up to a limit: a few kilobytes can hold terabytes of zeros."""
    left = LARGEST_UNPACKED
    with tarfile.open(path, tarinfo=_Member) as archive:
        for number, member in enumerate(archive):
            left -= member.size
            if number > MOST_MEMBERS or left < 0:
                raise tarfile.TarError("it holds more than such an archive can")
            if member.isreg() and member.name.endswith(".json"):
                if member.size > LARGEST_FILE:
                    raise tarfile.TarError(f"{member.name} is larger than {LARGEST_FILE // MEGABYTE} MB")
                content = archive.extractfile(member)
                if content is not None:
                    yield f"{path}:{member.name}", content.read(LARGEST_FILE)


def run_id(content: bytes) -> str:
    """A file's records are one run, named by their content: importing them again adds nothing."""
    return "greenlight-" + hashlib.sha256(content).hexdigest()[:32]


def read_records(content: bytes) -> tuple[Run, list[Measurement]]:
    """The run and the measurements that one file holds; raises `Malformed`."""
    try:
        records = parse_json(content)
    except RecursionError as error:
        raise Malformed("nested too deeply") from error
    except ValueError as error:
        raise Malformed(f"not JSON: {error}") from error
    if not isinstance(records, list) or not records:
        raise Malformed("not a list of records")
    run = run_id(content)
    read: list[tuple[_Record, Measurement]] = []
    for number, item in enumerate(records, 1):
        try:
            if not isinstance(item, dict) or len(item) != 1:
                raise Malformed("not an object with one API")
            [(name, record)] = item.items()
            parsed = _Record(name, record)
            read.append((parsed, parsed.measurement(run, number)))
        except Malformed as error:
            raise Malformed(f"record {number}: {error}") from error
        except KeyError as error:
            raise Malformed(f"record {number}: {error} is missing") from error
        except (TypeError, ValueError, IndexError, AttributeError, ArithmeticError, RecursionError) as error:
            raise Malformed(f"record {number}: {error}") from error
    return _run(run, [record for record, _ in read]), [measurement for _, measurement in read]


class _Record:
    """One call: its place, its window on each clock, and the net energy of each device."""

    def __init__(self, name: str, record: Mapping[str, Any]) -> None:
        times, metadata = record["times"], record["project_metadata"]
        self.api = canonical(name)
        self.start = int(times["start_time_execution"])
        self.end = int(times["end_time_execution"])
        if self.end < self.start:
            raise Malformed("the call ends before it starts")
        self.project = str(metadata["project_name"])
        self.commit = str(metadata["project_commit"])
        self.file = _within_project(str(metadata["script_path"]))
        self.line = int(metadata["api_call_line"])
        sizes = record["input_sizes"]
        self.sizes = [int(sizes[key] or 0) for key in ("args_size", "kwargs_size", "object_size")]
        energy, self._settings = record["energy_data"], record["settings"]
        perf, nvidia = int(times["sys_start_time_perf"]), int(times["sys_start_time_nvidia"])
        self.nets: dict[Device, Net | None] = {
            "cpu": self._net(_energy_series(energy["cpu"]), perf),
            "ram": self._net(_energy_series(energy["ram"]), perf),
            "gpu": self._net(_power_series(energy["gpu"]), nvidia),
        }
        [temperatures] = _columns(record["cpu_temperatures"], "temperature")
        self.cpu_temperature = statistics.fmean(temperatures) if temperatures else None

    def _net(self, series: Series, zero: int) -> Net | None:
        """Net energy of the call, its window seen from the zero of the device's own clock."""
        return net_energy(series, (self.start - zero) / 1e9, (self.end - zero) / 1e9)

    @property
    def stable(self) -> bool | None:
        """Whether the machine was as steady before the call as the study asked for."""
        limits = {device: self._settings.get(f"{device}_std_to_mean") for device in self.nets}
        known = [
            (net, limit) for device, net in self.nets.items() if net and (limit := limits[device]) is not None
        ]
        return all(net.baseline_deviation <= limit * net.baseline_watts for net, limit in known) or None

    def measurement(self, run: str, number: int) -> Measurement:
        """The record as a measurement; resolved when its net energy is above zero with 95% confidence."""
        nets = {device: net for device, net in self.nets.items() if net is not None}
        total = math.fsum(net.joules for net in nets.values())
        half = Z95 * math.sqrt(sum(net.stderr**2 for net in nets.values()))
        resolved = bool(nets) and len(nets) == len(self.nets) and total - half > 0
        high = total + half if resolved else math.fsum(net.most for net in nets.values())
        return Measurement(
            id=content_id(run, number),
            run_id=run,
            api=self.api,
            file=self.file,
            line=self.line,
            signature=InputSignature((), *self.sizes),
            seconds=(self.end - self.start) / 1e9,
            joules={device: Quantity(net.joules, net.stderr) for device, net in nets.items()},
            count=1,
            repeats=1,
            resolved=resolved,
            method="imported",
            low=total - half if nets else None,
            high=high if nets else None,
        )


def _run(name: str, records: list[_Record]) -> Run:
    first = min(records, key=lambda record: record.start)
    started = datetime.fromtimestamp(first.start // 10**9, tz=timezone.utc)
    steady = {record.stable for record in records}
    temperatures = [r.cpu_temperature for r in records if r.cpu_temperature is not None]
    return Run(
        id=name,
        machine=MACHINE,
        environment=ENVIRONMENT,
        command=first.file,
        started=started.strftime("%Y-%m-%dT%H:%M:%SZ"),
        meter=METER,
        estimated=False,
        stable=steady == {True},
        commit=first.commit,
        project=first.project,
        temperatures={"cpu": round(statistics.fmean(temperatures), 1)} if temperatures else {},
        seconds=(max(record.end for record in records) - first.start) / 1e9,
    )


def _within_project(script: str) -> str:
    """The script's path within its project: the study kept patched copies in folders `<project>_patched`."""
    parts = script.replace("\\", "/").split("/")
    roots = [index for index, part in enumerate(parts) if part.endswith("_patched")]
    return "/".join(parts[roots[0] + 1 :]) if roots and roots[0] + 1 < len(parts) else parts[-1]


def _columns(text: str, *names: str) -> list[list[float]]:
    """Columns of a table in pandas' "split" layout, as finite numbers."""
    table = parse_json(text)
    places = [table["columns"].index(name) for name in names]
    columns = [[float(row[place]) for row in table["data"]] for place in places]
    if not all(math.isfinite(sum(column)) for column in columns):
        raise Malformed("a sample is not a finite number")
    return columns


def _energy_series(text: str) -> Series:
    """Joules per sample, stamped with the end of their stretch; the first begins at the clock's zero."""
    ends, joules = _columns(text, "time_elapsed", "energy (J)")
    starts = [0.0, *ends[:-1]]
    _require_order(starts, ends)
    watts = [energy / (end - start) for start, end, energy in zip(starts, ends, joules, strict=True)]
    return Series(0.0, ends, watts, step=_ENERGY_STEP_JOULES / 0.5)


def _power_series(text: str) -> Series:
    """Watts at each sample, taken as the mean since the sample before."""
    times, watts = _columns(text, "time_elapsed", "power_draw (W)")
    _require_order(times[:-1], times[1:])
    begin = times[0] if times else 0.0
    return Series(begin, times[1:], watts[1:], _POWER_STEP_WATTS, lag=_GPU_AVERAGING_SECONDS)


def _require_order(earlier: list[float], later: list[float]) -> None:
    if not all(map(operator.lt, earlier, later)):
        raise Malformed("samples are not in the order of time")
