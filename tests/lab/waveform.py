"""Power whose truth is known, and what real sensors would say about it: no clock, no files, only numpy.

Seconds count from the start of the script. The same `Waveform` drives the simulated sensors that run
against the clock (see `scene.py`) and the offline traces below.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from energy_data.model import Device
from energy_measure.sampling.trace import Kind, SampledTrace

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Waveform:
    """Watts of one source over time: straight lines between points, two points at one time for a step.

    Before the first point and after the last the power stays what it was there.
    """

    seconds: Floats
    watts: Floats
    joules: Floats = field(init=False)
    """Energy from the first point up to each point."""

    def __post_init__(self) -> None:
        if (
            len(self.seconds) == 0
            or len(self.seconds) != len(self.watts)
            or np.any(np.diff(self.seconds) < 0)
        ):
            raise ValueError(
                "a waveform needs at least one point, as many watts as seconds, and time in order"
            )
        steps = np.diff(self.seconds) * (self.watts[1:] + self.watts[:-1]) / 2
        object.__setattr__(self, "joules", np.concatenate(([0.0], np.cumsum(steps))))

    @classmethod
    def of(cls, *points: tuple[float, float]) -> Waveform:
        """From (second, watts) pairs."""
        return cls(np.array([p[0] for p in points], float), np.array([p[1] for p in points], float))

    @classmethod
    def constant(cls, watts: float) -> Waveform:
        """The same power for ever."""
        return cls.of((0.0, watts))

    @classmethod
    def square(cls, low: float, high: float, period: float, duration: float) -> Waveform:
        """Half a period at `low`, half at `high`, and so on; `low` afterwards."""
        cycles = round(duration / period)
        edges = np.arange(2 * cycles + 1) * (period / 2)
        return cls(np.repeat(edges, 2)[1:], np.append(np.tile([low, low, high, high], cycles), low))

    def power(self, at: npt.ArrayLike) -> Floats:
        """Watts at each time; at a step, those after it."""
        t = np.asarray(at, float)
        right = np.clip(np.searchsorted(self.seconds, t, side="right"), 0, len(self.seconds))
        left = np.maximum(right - 1, 0)
        right = np.minimum(right, len(self.seconds) - 1)
        span = self.seconds[right] - self.seconds[left]
        share = np.divide(t - self.seconds[left], span, out=np.zeros_like(t), where=span > 0)
        return np.asarray(self.watts[left] + np.clip(share, 0, 1) * (self.watts[right] - self.watts[left]))

    def cumulative(self, at: npt.ArrayLike) -> Floats:
        """Joules from the first point up to each time (negative before it)."""
        t = np.asarray(at, float)
        left = np.clip(np.searchsorted(self.seconds, t, side="right") - 1, 0, len(self.seconds) - 1)
        inside = np.clip(t, self.seconds[0], self.seconds[-1])
        start = self.seconds[left]
        within = (inside - start) * (self.watts[left] + self.power(inside)) / 2
        within = np.where(inside >= self.seconds[-1], 0.0, within)
        before = np.minimum(t - self.seconds[0], 0.0) * self.watts[0]
        after = np.maximum(t - self.seconds[-1], 0.0) * self.watts[-1]
        return np.asarray(self.joules[left] + within + before + after)

    def energy(self, start: npt.ArrayLike, end: npt.ArrayLike) -> Floats:
        """True joules between two times (or two arrays of times)."""
        return np.asarray(self.cumulative(end) - self.cumulative(start))


@dataclass(frozen=True, eq=False)
class Calls:
    """API calls of a scripted program: when they run and what each draws above idle, per device."""

    starts: Floats
    ends: Floats
    watts: Mapping[Device, Floats]
    tail_watts: Mapping[Device, float] = field(default_factory=dict)
    """Power that stays on after each call (a GPU keeps its clocks up), not part of the call's energy."""
    tail_seconds: float = 0.0

    def true_joules(self, device: Device) -> Floats:
        """Net energy of each call on a device."""
        return np.asarray(self.watts[device] * (self.ends - self.starts))

    def waveform(self, device: Device, idle: Waveform | float) -> Waveform:
        """Power of the device while the calls run (concurrent calls add up) on top of its idle power."""
        watts = self.watts.get(device, np.zeros(len(self.starts)))
        times, steps = [self.starts, self.ends], [watts, -watts]
        if tail := self.tail_watts.get(device, 0.0):
            times += [self.ends, self.ends + self.tail_seconds]
            steps += [np.full(len(watts), tail), np.full(len(watts), -tail)]
        at, change = np.concatenate(times), np.concatenate(steps)
        order = np.argsort(at, kind="stable")
        at, level = at[order], np.cumsum(change[order])
        above = np.stack([np.concatenate(([0.0], level[:-1])), level], axis=1).ravel()
        seconds = np.repeat(at, 2)
        if isinstance(idle, Waveform):
            return _add(idle, Waveform(seconds, above))
        return Waveform(seconds, above + idle)


def _add(first: Waveform, second: Waveform) -> Waveform:
    """The sum of two waveforms, with a step wherever either has one."""
    at = np.unique(np.concatenate([first.seconds, second.seconds]))
    before = np.nextafter(at, -np.inf)
    watts = np.stack([first.power(before) + second.power(before), first.power(at) + second.power(at)], axis=1)
    return Waveform(np.repeat(at, 2), watts.ravel())


@dataclass(frozen=True)
class RaplModel:
    """How a RAPL counter shows power: it moves about every millisecond and carries no time stamp.

    Uniform `jitter` of the update times over one period and white noise of 2% over 50 ms give the spread
    seen on idle CPUs: a coefficient of variation of 0.45 read every 1 ms, 0.06 every 10 ms, 0.02 every 50 ms.
    """

    update_period: float = 1e-3
    jitter: float = 1.0
    """Part of the update period over which the time of an update is spread."""
    quantum: float = 2.0**-14
    noise: float = 0.02
    """Standard deviation of the mean power over 50 ms, relative to the power."""


@dataclass(frozen=True)
class NvmlModel:
    """How a GPU shows power: a counter of millijoules or watts averaged over a window."""

    update_period: float
    window: float
    noise: float = 0.005
    """Relative standard deviation of one power update; for the counter, of the mean power over 50 ms."""
    gain: float = 1.0
    """What the sensor shows divided by the truth."""


GPUS: Mapping[str, NvmlModel] = {
    "NVIDIA GeForce GTX 1080 Ti": NvmlModel(0.020, 0.010),
    "NVIDIA GeForce RTX 2080 Ti": NvmlModel(0.100, 0.100),
    "NVIDIA GeForce RTX 3070 Ti": NvmlModel(0.100, 1.000),
    "NVIDIA GeForce RTX 3090": NvmlModel(0.100, 1.000),
    "NVIDIA A100-SXM4-40GB": NvmlModel(0.100, 0.025),
    "NVIDIA H100 PCIe": NvmlModel(0.100, 1.000),
}
"""Update period and averaging window of the power reading of real GPUs."""


def reading_times(
    duration: float, period: float, *, jitter: float = 2e-5, rng: np.random.Generator | None = None
) -> Floats:
    """When a sampler with absolute deadlines takes its readings: a little late, never early."""
    ticks = np.arange(0.0, duration, period)
    if rng is None or jitter == 0:
        return ticks
    return np.asarray(ticks + np.minimum(rng.exponential(jitter, len(ticks)), 0.9 * period))


def sample_rapl(
    wave: Waveform,
    times: Floats,
    rng: np.random.Generator,
    *,
    device: Device = "cpu",
    model: RaplModel | None = None,
    start_ns: int = 0,
) -> SampledTrace:
    """Readings of a RAPL domain at the given times, unwrapped, as joules since the first reading."""
    model = model or RaplModel()
    updates = np.arange(np.floor(times[0] / model.update_period) - 2, times[-1] / model.update_period + 1)
    moments = (updates + model.jitter * rng.random(len(updates))) * model.update_period
    counted = _counted(wave, moments, model.noise, rng)
    counted = np.floor(counted / model.quantum) * model.quantum
    seen = counted[np.searchsorted(moments, times, side="right") - 1]
    return _trace(device, times, start_ns, "energy", seen - seen[0], model.update_period, 0.0, model.quantum)


def sample_nvml_energy(
    wave: Waveform,
    times: Floats,
    rng: np.random.Generator,
    *,
    model: NvmlModel,
    start_ns: int = 0,
) -> SampledTrace:
    """Readings of a GPU's total-energy counter at the given times, as joules since the first reading."""
    phase = rng.random() * model.update_period
    updates = np.arange(
        times[0] - 2 * model.update_period - phase, times[-1] + model.update_period, model.update_period
    )
    counted = np.floor(_counted(wave, updates, model.noise, rng) * model.gain / 1e-3) * 1e-3
    seen = counted[np.searchsorted(updates, times, side="right") - 1]
    return _trace("gpu", times, start_ns, "energy", seen - seen[0], model.update_period, 0.0, 1e-3)


def sample_nvml_power(
    wave: Waveform,
    times: Floats,
    rng: np.random.Generator,
    *,
    model: NvmlModel,
    start_ns: int = 0,
) -> SampledTrace:
    """Readings of a GPU's power at the given times: the mean over the window before the last update."""
    phase = rng.random() * model.update_period
    updates = np.arange(
        times[0] - 2 * model.update_period - phase, times[-1] + model.update_period, model.update_period
    )
    mean = wave.energy(updates - model.window, updates) / model.window
    mean = mean * model.gain * (1 + model.noise * rng.standard_normal(len(updates)))
    seen = np.round(mean, 3)[np.searchsorted(updates, times, side="right") - 1]
    return _trace("gpu", times, start_ns, "power", seen, model.update_period, model.window, 1e-3)


def _counted(wave: Waveform, moments: Floats, noise: float, rng: np.random.Generator) -> Floats:
    """Energy counted up to each update: the truth plus white noise of the power."""
    true = wave.cumulative(moments)
    spans = np.diff(moments, prepend=moments[0])
    spread = noise * wave.power(moments) * np.sqrt(0.05 * np.maximum(spans, 0.0))
    return np.asarray(np.maximum.accumulate(true + np.cumsum(spread * rng.standard_normal(len(moments)))))


def _trace(
    device: Device,
    times: Floats,
    start_ns: int,
    kind: Kind,
    values: Floats,
    period: float,
    window: float,
    quantum: float,
) -> SampledTrace:
    times_ns = start_ns + np.round(times * 1e9).astype(np.int64)
    return SampledTrace(
        device,
        times_ns,
        kind,
        np.ascontiguousarray(values),
        period,
        window,
        quantum,
        source=f"simulated {device}",
    )
