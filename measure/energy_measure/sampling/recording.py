"""What samplers wrote, as arrays, with how well they kept their times."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from energy_measure.meters.interface import Source
from energy_measure.sampling.trace import SampledTrace, per_device
from energy_measure.sampling.trace_file import UNCERTAIN_NS, Header, notes_path


@dataclass(frozen=True, slots=True)
class SamplerHealth:
    """How a sampler kept to its times and what it cost."""

    meter: str
    period_s: float
    readings: int
    missed: int
    """Ticks without a reading, because the sampler was not given the CPU in time."""
    uncertain: int
    """Readings left out because they were interrupted."""
    jitter_s: float
    """Standard deviation of how late the readings were."""
    latest_s: float
    """The worst of them."""
    longest_gap_s: float
    cpu_share: float
    """CPU seconds of the sampler per second."""
    counts: bool
    """It reads counters alone, which go on counting while nobody reads."""

    @property
    def warning(self) -> str:
        """What is wrong with the trace and what that means when it is worse than it should be, else nothing."""
        due = self.readings + self.missed + self.uncertain
        if due and (
            self.missed + self.uncertain > 0.05 * due or self.longest_gap_s > max(0.1, 5 * self.period_s)
        ):
            meaning = (
                "The meter went on counting, so no energy is lost; calls as short as the gaps are distinguished less well"
                if self.counts
                else "What was drawn in the gaps is known less well"
            )
            return (
                f"The sampler of {self.meter} missed {self.missed + self.uncertain} of {due} readings "
                f"(longest gap {self.longest_gap_s * 1e3:.0f} ms): the machine was too busy. "
                f"{meaning}, and intervals say so."
            )
        return ""


@dataclass(frozen=True, slots=True)
class Recording:
    """All samplers of one measurement."""

    sources: tuple[SampledTrace, ...]
    """Each package, memory and GPU by itself."""
    health: tuple[SamplerHealth, ...]
    problems: tuple[str, ...]
    """One sentence each: a device that vanished, a sampler that was late or ended early."""

    @property
    def traces(self) -> list[SampledTrace]:
        """One trace per device: what attribution takes."""
        return per_device(self.sources)

    @property
    def estimated(self) -> bool:
        """True when any of it is an estimate."""
        return any(trace.estimated for trace in self.sources)


def read_recording(files: Iterable[Path]) -> Recording:
    """Read the files of several samplers, finished, running or killed."""
    sources: list[SampledTrace] = []
    health: list[SamplerHealth] = []
    problems: list[str] = []
    for path in files:
        header, records = _records(path)
        certain = _certain(records)
        state = _health(header, records, certain)
        health.append(state)
        problems += _notes(path) + ([state.warning] if state.warning else [])
        kept = records[certain]
        sources += [_trace(header, source, kept, column) for column, source in enumerate(header.sources)]
    return Recording(tuple(sources), tuple(health), tuple(problems))


def _records(path: Path) -> tuple[Header, npt.NDArray[np.void]]:
    data = path.read_bytes()
    end = data.find(b"\n") + 1
    header = Header.from_bytes(data[:end])
    layout = np.dtype(
        [
            ("tick", "<i8"),
            ("time", "<i8"),
            ("took", "<u4"),
            ("cpu", "<u4"),
            ("values", "<f8", (len(header.sources),)),
        ]
    )
    whole = (len(data) - end) // layout.itemsize
    return header, np.frombuffer(data, layout, count=whole, offset=end)


def _certain(records: npt.NDArray[np.void]) -> npt.NDArray[np.bool_]:
    took = records["took"].astype(np.int64)
    usual = int(np.median(took)) if len(took) else 0
    return np.asarray(took <= usual + UNCERTAIN_NS)


def _health(header: Header, records: npt.NDArray[np.void], certain: npt.NDArray[np.bool_]) -> SamplerHealth:
    ticks, times = records["tick"], records["time"]
    late = times - records["took"].astype(np.int64) // 2 - (header.start_ns + ticks * header.period_ns)
    late = np.maximum(late, 0)  # the reading at the end is taken when sampling is stopped, before it is due
    kept = times[certain]
    seconds = float(times[-1] - times[0]) / 1e9 if len(times) > 1 else 0.0
    cpu = float(records["cpu"][-1] - records["cpu"][0]) / 1e6 if len(times) > 1 else 0.0
    return SamplerHealth(
        meter=header.meter,
        period_s=header.period_ns / 1e9,
        readings=int(certain.sum()),
        missed=int(ticks[-1] - ticks[0] + 1 - len(ticks)) if len(ticks) else 0,
        uncertain=int(len(certain) - certain.sum()),
        jitter_s=float(np.std(late)) / 1e9 if len(late) else 0.0,
        latest_s=float(np.max(late)) / 1e9 if len(late) else 0.0,
        longest_gap_s=float(np.max(np.diff(kept))) / 1e9 if len(kept) > 1 else 0.0,
        cpu_share=cpu / seconds if seconds else 0.0,
        counts=all(source.kind == "energy" for source in header.sources),
    )


def _trace(header: Header, source: Source, records: npt.NDArray[np.void], column: int) -> SampledTrace:
    values = records["values"][:, column]
    known = ~np.isnan(values)
    return SampledTrace(
        device=source.device,
        times_ns=np.ascontiguousarray(records["time"][known]),
        kind=source.kind,
        values=np.ascontiguousarray(values[known]),
        update_period_s=source.update_period_s,
        window_s=source.window_s,
        quantum=source.quantum,
        source=source.name,
        estimated=header.estimated,
        limit_watts=source.limit_watts,
    )


def _notes(path: Path) -> list[str]:
    try:
        return notes_path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
