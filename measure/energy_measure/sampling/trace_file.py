"""The file a sampler writes: one line that says what is read, then one record of fixed size per reading.

Every record is written at once and never changed, so the file can be read at any time, also after the sampler
was killed: what is there is true, and a record cut short at the end is left out.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from energy_data.untrusted.writing import append_to, write_file
from energy_measure.meters.interface import MeterProblem, Source

MAGIC = b"energy-trace 1 "
UNCERTAIN_NS = 200_000
"""A reading that took this much longer than usual was interrupted: when its value was true is not known."""


@dataclass(frozen=True, slots=True)
class Header:
    """What the records of a file mean."""

    meter: str
    estimated: bool
    period_ns: int
    start_ns: int
    """CLOCK_MONOTONIC of tick 0; tick n was due at start + n × period."""
    sources: tuple[Source, ...]

    def to_bytes(self) -> bytes:
        """The first line of the file."""
        return MAGIC + json.dumps(asdict(self)).encode() + b"\n"

    @classmethod
    def from_bytes(cls, line: bytes) -> Header:
        """From the first line of a file."""
        if not line.startswith(MAGIC) or not line.endswith(b"\n"):
            raise MeterProblem("This is not a file of a sampler, or the sampler was stopped before it began.")
        fields = json.loads(line[len(MAGIC) :])
        fields["sources"] = tuple(Source(**source) for source in fields["sources"])
        return cls(**fields)


def record_layout(sources: int) -> struct.Struct:
    """Tick, time in ns, ns the reading took, µs of CPU the sampler has used so far, one number per source."""
    return struct.Struct(f"<qqII{sources}d")


class TraceWriter:
    """Appends records; each is in the kernel's hands when `add` returns."""

    def __init__(self, path: Path, header: Header) -> None:
        # In the private folder of the run, of which whoever started us knows that it is fresh.
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        self._notes = notes_path(path)
        write_file(self._notes, "", private=True)
        self._pack = record_layout(len(header.sources)).pack
        _write_all(self._file, header.to_bytes())

    def add(self, tick: int, time_ns: int, took_ns: int, cpu_us: int, values: Sequence[float]) -> None:
        """One reading of all sources."""
        _write_all(self._file, self._pack(tick, time_ns, min(took_ns, 0xFFFFFFFF), cpu_us, *values))

    def note(self, sentence: str) -> None:
        """A problem that whoever reads the trace has to know of."""
        with append_to(self._notes) as file:
            file.write(sentence.replace("\n", " ") + "\n")

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def notes_path(trace: Path) -> Path:
    """Where the sentences about a trace are kept."""
    return trace.with_suffix(".notes")


def _write_all(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]
