"""What the probe costs per call, and in memory over millions of calls (for whole programs: `slowdown.py`).

    python benchmarks/overhead/probe.py [--calls 5000000]

The cost per call is CPU time, the smallest of many rounds: noise only adds. It is that of a processor which does
nothing else; between calls that sweep its caches a probe takes about five times as long.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for what benchmarks share

from energy_measure.injected import probe as probe_module
from record import Results

PER_CALL = """
import importlib.util, sys, tempfile, time, types
spec = importlib.util.spec_from_file_location("probe", sys.argv[1])
sys.modules["probe"] = module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
sys.modules["tensorflow"] = types.SimpleNamespace(executing_eagerly=lambda: True)
recorder = module.Recorder(tempfile.mkdtemp(), 1)
probe = module.make_probe(recorder)

def nothing(a, b):
    pass

def rounds(calls=4096, times=24):
    plain, probed = [], []
    for _ in range(times):
        begin = time.thread_time_ns()
        for _ in range(calls):
            nothing(1, 2)
        middle = time.thread_time_ns()
        for _ in range(calls):
            probe(0, nothing, 1, 2)
        plain.append(middle - begin)
        probed.append(time.thread_time_ns() - middle)
    return (min(probed) - min(plain)) / calls

print(rounds(), rounds())
module.recorder.MARKED_NS = module.recorder.MARKED_NS_OF_MANY = 0
module.calls.PER_MARK_NS = 10  # each call pays for marks of the next
probe = module.make_probe(module.Recorder(tempfile.mkdtemp(), 1, marking=True))
print(rounds())
"""


MANY = """
import importlib.util, os, sys, tempfile, time, types
spec = importlib.util.spec_from_file_location("probe", sys.argv[1])
sys.modules["probe"] = module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
sys.modules["tensorflow"] = types.SimpleNamespace(executing_eagerly=lambda: True)
calls = int(sys.argv[2])

def megabytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6

with tempfile.TemporaryDirectory() as folder:
    recorder = module.Recorder(folder, 2)
    probe = module.make_probe(recorder)
    inner = lambda: None
    outer = lambda: probe(1, inner)
    print(megabytes())
    begin = time.process_time()
    for part in range(5):
        for _ in range(calls // 10):
            probe(0, outer)
        print(megabytes())
    used = time.process_time() - begin
    recorder.finish()
    written = sum(os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder))
    print(used / calls * 1e6, written / 1e6)
"""


def many_calls(calls: int) -> tuple[list[float], float, float]:
    """Megabytes of the process before and after each fifth of the calls, µs per call, megabytes written."""
    command = [sys.executable, "-c", MANY, probe_module.__file__, str(calls)]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    each, written = lines[-1].split()
    return [float(line) for line in lines[:-1]], float(each), float(written)


def nanoseconds_per_call(python: Path) -> tuple[float, float, float]:
    """CPU time that a probed call costs more than a plain one: with every call written, with merging, and with marks."""
    done = subprocess.run(
        [str(python), "-c", PER_CALL, probe_module.__file__], capture_output=True, text=True, check=True
    )
    single, merged, marked = map(float, done.stdout.split())
    return single, merged, marked


def pythons() -> dict[str, Path]:
    """This interpreter, and the others that are installed beside it and can run the probe."""
    found = {"{}.{}.{}".format(*sys.version_info): Path(sys.executable)}
    for folder in sorted(Path(sys.base_prefix).parent.glob("3.*")):
        python = folder / "bin" / "python"
        if python.exists() and (3, 8) <= tuple(map(int, folder.name.split(".")[:2])) <= (3, 13):
            found.setdefault(folder.name, python)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=5_000_000, help="for the memory of very many calls")
    options = parser.parse_args()
    results = Results("overhead/probe", topic="Measuring", title="What the probe costs a call")
    print("| what | figure |", "|---|---|", sep="\n")
    for version, python in pythons().items():
        single, merged, marked = nanoseconds_per_call(python)
        cost = f"{single:.0f} ns ({merged:.0f} ns when merged, {marked:.0f} ns with marks)"
        print(f"| a probed call, Python {version} | {cost} |")
        for what, nanoseconds in (("alone", single), ("merged", merged), ("with its CPU time", marked)):
            results.add(f"a probed call, Python {version}: {what}", nanoseconds / 1e3, "µs", at_most=3)
    memory, each, written = many_calls(options.calls)
    print(f"| {options.calls:,} calls | {each:.2f} µs each, {written:.0f} MB written |")
    print("| memory, before and after each fifth | " + ", ".join(f"{part:.0f}" for part in memory) + " MB |")
    results.add(f"each of {options.calls:,} calls, half of them nested", each, "µs", at_most=3)
    results.add("memory more at their end", memory[-1] - memory[0], "MB")
    results.write()


if __name__ == "__main__":
    main()
