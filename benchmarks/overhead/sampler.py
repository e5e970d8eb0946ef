"""How punctual the sampler is and what it costs, by sampling period.

    python benchmarks/overhead/sampler.py [--seconds 2]

Reads a simulated RAPL (two sockets with memory) and the estimate from CPU time of a busy process. Jitter and
latest: how long after they were due the readings were taken. CPU: the sampler's own, of one core.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests/lab"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for what benchmarks share

from energy_measure import meters
from energy_measure.sampling.controller import Sampling
from record import Results
from scene import Scene, build, dram, package
from waveform import Waveform

PERIODS_MS = (1, 2, 5, 10, 50, 500)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=2.0, help="for each row")
    seconds = parser.parse_args().seconds
    results = Results("overhead/sampler", topic="Measuring", title="The sampler: punctual, and what it takes")
    print("| meter | period | readings | missed | jitter | latest | CPU |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wave = Waveform.constant(40.0)
        sensors = [package(0, wave), dram(0, wave), package(1, wave), dram(1, wave)]
        scene = Scene(folder, build(folder), sensors)
        os.environ.update(scene.environment)
        busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
        try:
            for meter in ("rapl", "cpu-time"):
                for period in PERIODS_MS:
                    print(row(meter, period, folder, seconds, busy.pid, results), flush=True)
        finally:
            busy.kill()
            busy.wait()
    results.write()


def row(meter: str, period_ms: int, folder: Path, seconds: float, pid: int, results: Results) -> str:
    with Sampling([meters.find(meter)], folder, period_s=period_ms / 1e3, pid=pid) as sampling:
        time.sleep(max(seconds, 3 * period_ms / 1e3))
        (health,) = sampling.stop().health
    what = f"{meter} every {period_ms} ms"
    due = health.readings + health.missed
    results.add(f"{what}: readings missed", 100 * health.missed / max(due, 1), "%")
    results.add(f"{what}: CPU of one core", 100 * health.cpu_share, "%")
    return (
        f"| {meter} | {period_ms} ms | {health.readings} | {health.missed} | {health.jitter_s * 1e6:.0f} µs "
        f"| {health.latest_s * 1e6:.0f} µs | {health.cpu_share:.2%} |"
    )


if __name__ == "__main__":
    main()
