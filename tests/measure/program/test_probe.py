"""What the probe records: counts, nesting, signatures, trace time, in bounded memory, on every Python."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from energy_measure.attribution.events import Events
from energy_measure.injected import probe as probe_module
from energy_measure.injected.probe import rows as row_format

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
    rows: list[int] = []
    for long_call in range(3):
        outer = 1 + long_call * 10_000_000
        for short in range(50):
            start = outer + 1000 + short * 100_000
            rows += (2, start + 10, start + 60, 0)
            rows += (1, start, start + 100, 0)
        rows += (0, outer, outer + 9_000_000, 0)
    plain, flat = row_format.merge(rows, [], since=0)
    merged = np.reshape(flat, (-1, row_format.MERGED_ROW))
    assert plain == []
    assert len(merged) == 9, "three long calls, in each one group per short site"
    by_site = {site: merged[merged[:, 0] == site] for site in (0, 1, 2)}
    assert by_site[1][:, 7].tolist() == [50, 50, 50]
    assert by_site[2][:, 6].sum() == 3 * 50 * 50
    assert (by_site[2][:, 5] >> 1).tolist() == [2, 2, 2], "levels deep"


def test_calls_that_began_before_merging_did_stay_single_and_open_ones_hold_what_runs_in_them() -> None:
    rows = [1, 110, 120, 0, 1, 130, 140, 0, 0, 100, 150, 0, 1, 210, 220, 1, 2, 230, 240, 0]
    plain, merged = row_format.merge(rows, [(50, 7), (225, 8)], since=125)
    assert np.reshape(plain, (-1, 4)).tolist() == [[0, 100, 150, 0], [1, 110, 120, 0]]
    assert np.reshape(merged, (-1, 8)).tolist() == [
        [2, 230, 240, 225, 8, 4, 10, 1],
        [1, 210, 220, 50, 7, 3, 10, 1],
        [1, 130, 140, 100, 0, 4, 10, 1],
    ]


def test_what_is_nested_stays_nested_when_merging_begins(bench: Any, python: Path) -> None:
    bench.write(
        main="""
        import tensorflow as tf

        def many(n):
            for i in range(n):
                tf.square(i)

        tf.py_function(many, [170_000], None)
        tf.py_function(many, [10], None)
        """
    )
    found = bench.probed(python, "main.py")
    events = found.events
    outer = np.flatnonzero(events.depth == 0)
    inner = np.flatnonzero(events.depth == 1)
    assert len(outer) == 2
    assert [int(events.count[events.parent == one].sum()) for one in outer] == [170_000, 10]
    assert len(outer) + len(inner) == len(events) < 150_000
    assert (events.nested[outer] == [events.busy[events.parent == one].sum() for one in outer]).all()
    assert (events.nested[outer] < events.busy[outer]).all()


def test_nesting_follows_from_times_alone() -> None:
    rng = np.random.default_rng(5)
    site: list[int] = []
    start: list[int] = []
    end: list[int] = []
    thread: list[int] = []
    parent: list[int] = []

    def run(now: int, where: int, above: int, level: int) -> int:
        for _ in range(rng.integers(1, 5)):
            begin = now + int(rng.integers(1, 9))
            row = len(site)
            site.append(int(rng.integers(0, 3)))
            start.append(begin)
            end.append(0)
            thread.append(where)
            parent.append(above)
            now = begin if level == 4 else run(begin, where, row, level + 1)
            now = end[row] = now + int(rng.integers(1, 9))
        return now

    for where in range(6):
        run(int(rng.integers(0, 50)), where, -1, 0)
    shuffled = rng.permutation(len(site))
    events = Events.of(
        *(np.take(column, shuffled).tolist() for column in (site, start, end)),
        thread=np.take(thread, shuffled).tolist(),
    )
    by_place = {(where, at): row for row, (where, at) in enumerate(zip(thread, start, strict=True))}
    rows = [by_place[int(where), int(at)] for where, at in zip(events.thread, events.start, strict=True)]
    assert [parent[row] for row in rows] == [rows[above] if above >= 0 else -1 for above in events.parent]


def test_a_signal_handler_may_call_an_api_at_any_time(bench: Any, python: Path) -> None:
    bench.write(
        main="""
        import signal
        import tensorflow as tf

        handled = []

        def handler(number, frame):
            # Another signal may come at any point in here: a list counts it, `+= 1` would not.
            if len(handled) < 400:
                handled.append(number)
                tf.add(1, number)

        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
        done = 0
        while len(handled) < 400:
            tf.square(done)
            done += 1
        signal.setitimer(signal.ITIMER_REAL, 0)
        print(done, len(handled))
        """
    )
    found = bench.probed(python, "main.py")
    done, handled = map(int, found.outcome.output.split())
    assert found.count("tensorflow.math.square") == done
    assert found.count("tensorflow.math.add") == handled


def test_events_survive_a_program_that_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "events-1.bin"
    whole = np.array([row_format.MAGIC, 0, 2, 4, *[5, 10, 20, 0], *[6, 30, 40, 1]])
    cut = np.array([row_format.MAGIC, 0, 2, 4, *[5, 50, 60]])
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
    folder = Path(probe_module.__file__).parent.parent
    look = "print([name for name in sys.modules if 'energy' in name])"
    program = f"import sys; sys.path.insert(0, {str(folder)!r}); import probe; {look}"
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
