"""What the probe records: counts, nesting, signatures, trace time, in bounded memory, on every Python."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from energy_measure import probe as probe_module
from energy_measure.events import Events

HERE = Path(sys.executable)


def test_very_many_calls_need_bounded_memory_and_disk(bench: Any) -> None:
    bench.write(
        main="""
        import resource
        import tensorflow as tf

        def many(n):
            for i in range(n):
                tf.py_function(tf.square, [i], None)
                tf.constant(i)

        many(60_000)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        many(200_000)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
        """
    )
    found = bench.probed(HERE, "main.py")
    assert int(found.outcome.output) < 8_000, "kilobytes more for 600,000 further calls"
    assert found.count("tensorflow.py_function") == found.count("tensorflow.constant") == 260_000
    assert len(found.events) < 150_000
    assert sum(path.stat().st_size for path in found.folder.glob("events-*")) < 12_000_000
    merged = found.events.count > 1
    assert merged.any()
    assert (found.events.busy <= found.events.end - found.events.start).all()


def test_merging_keeps_time_and_nesting() -> None:
    rows: list[tuple[int, ...]] = []
    for long_call in range(3):
        outer = long_call * 10_000_000
        for short in range(50):
            start = outer + 1000 + short * 100_000
            rows.append((2, start + 10, start + 60, 0, start, 1, 4))
            rows.append((1, start, start + 100, 50, outer, 0, 2))
        rows.append((0, outer, outer + 9_000_000, 5000, 0, -1, 0))
    merged = probe_module.merge(rows)
    assert len(merged) == 9, "three long calls, in each one group per short site"
    by_site = {site: [row for row in merged if row[0] == site] for site in (0, 1, 2)}
    assert [row[8] for row in by_site[1]] == [50, 50, 50]
    assert sum(row[7] for row in by_site[2]) == 3 * 50 * 50
    assert all(row[3] == 2500 for row in by_site[1])


def test_events_survive_a_program_that_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "events-1.bin"
    whole = np.array([probe_module.MAGIC, 0, 2, 7, *[5, 10, 20, 0, 0, -1, 0], *[6, 30, 40, 0, 0, -1, 1]])
    cut = np.array([probe_module.MAGIC, 0, 2, 7, *[5, 50, 60]])
    path.write_bytes(np.concatenate([whole, cut]).astype("<i8").tobytes() + b"\x01\x02")
    events = Events.read(tmp_path)
    assert events.site.tolist() == [5, 6]
    assert events.tracing.tolist() == [False, True]


def test_signatures_name_tensors_and_count_bytes(bench: Any, python: Path) -> None:
    bench.write(
        main="""
        import tensorflow as tf
        for rows in (2, 2, 5):
            tf.identity(tf.zeros([rows, 3]))
        tf.reduce_sum([1, 2, 3], axis=None)
        """
    )
    found = bench.probed(python, "main.py")
    noted = json.loads(next(found.folder.glob("calls-*.json")).read_text())
    by_api = {found.sites[int(site)].api: known for site, known in noted["signatures"].items()}
    assert by_api["tensorflow.identity"][0] == [["float32[2,3]"], 24, 0, 0, 2]
    assert by_api["tensorflow.math.reduce_sum"][0][:3] == [[], 24, 0]
    assert noted["versions"]["tensorflow"] == "2.99.0"
    assert noted["threads"] == {"0": "MainThread"}


def test_calls_while_a_graph_is_built_are_marked(bench: Any, python: Path) -> None:
    bench.write(
        main="""
        import tensorflow as tf

        @tf.function
        def squares(x):
            return tf.square(x)

        print([squares(i) for i in range(4)])
        """
    )
    found = bench.probed(python, "main.py")
    square = [n for n, site in enumerate(found.sites) if site.api == "tensorflow.math.square"]
    rows = np.isin(found.events.site, square)
    assert found.events.tracing[rows].tolist() == [True, False, False, False, False]


def test_the_gpu_is_waited_for_only_where_there_is_one(bench: Any, python: Path) -> None:
    bench.write(
        main="""
        import sys
        import tensorflow as tf
        tf.config.gpus = sys.argv[1:]
        for i in range(3):
            tf.square(i)
        print(tf.config.synchronised)
        """
    )
    assert bench.probed(python, "main.py", "GPU:0", gpu=True).outcome.output == "6\n"
    assert bench.probed(python, "main.py", gpu=True).outcome.output == "0\n"
    assert bench.probed(python, "main.py", "GPU:0", gpu=False).outcome.output == "0\n"


def test_replay_repeats_the_first_call_of_a_site(bench: Any, python: Path) -> None:
    bench.write(
        main="""
        import tensorflow as tf
        print(tf.square(3), tf.add(1, 2))
        """
    )
    found = bench.probed(python, "main.py", replay={0: 0.03, 1: 0.02, 7: 0.02})
    windows = [window for window in found.windows if window["site"] in (0, 1)]
    rests = [window for window in found.windows if window["site"] == -1]
    assert [window["site"] for window in windows] == [0, 1, 1, 0]
    assert len(rests) == 5, "one before each window, one at the end"
    for window in windows:
        assert window["end"] > window["begin"]
        assert window["count"] > 100
        assert window["empty_ns"] > 0
    assert [window["site"] for window in found.windows if "problem" in window] == [7]
    assert found.outcome.output == "9 3\n"


def test_the_probe_needs_the_standard_library_alone(python: Path) -> None:
    source = Path(probe_module.__file__)
    look = "print([name for name in sys.modules if 'energy' in name])"
    program = f"import runpy, sys; runpy.run_path({str(source)!r}); {look}"
    done = subprocess.run([str(python), "-I", "-S", "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr


def test_events_find_the_call_around_each_call() -> None:
    events = Events.of(
        site=[0, 1, 2, 1, 0],
        start=[0, 10, 12, 50, 100],
        end=[90, 40, 20, 60, 120],
        thread=[0, 0, 0, 0, 1],
    )
    assert events.parent.tolist() == [-1, 0, 1, 0, -1]
    assert events.nested.tolist() == [40, 8, 0, 0, 0]
    assert events.depth.tolist() == [0, 1, 2, 1, 0]


def test_only_what_can_be_repeated_is_kept_for_replay(bench: Any, python: Path) -> None:
    bench.write(
        main="""
        import tensorflow as tf

        @tf.function
        def traced(x):
            return tf.add(x, 1)

        tf.reduce_sum(iter([1, 2]))
        tf.reduce_sum([1, 2])
        traced(1)
        """
    )
    found = bench.probed(python, "main.py")
    noted = json.loads(next(found.folder.glob("calls-*.json")).read_text())
    kept = [(found.sites[site].api, found.sites[site].line) for site in noted["replayable"]]
    assert kept == [("tensorflow.math.add", 5), ("tensorflow.math.reduce_sum", 8)]
