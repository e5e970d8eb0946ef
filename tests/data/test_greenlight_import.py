"""The raw records of the published study, and files that only look like them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from energy_data.database.database import Database
from energy_data.paths import user_database
from energy_data.studies.greenlight import Malformed, import_greenlight, read_records

Invoke = Callable[..., Result]
SECOND = 10**9
ZERO = 1_700_000_000 * SECOND


def split(columns: list[str], data: list[list[float]]) -> str:
    return json.dumps({"columns": columns, "index": list(range(len(data))), "data": data})


def record(*, gpu_clock: int = 0, **times: int) -> dict[str, Any]:
    """A call of four seconds that draws 100 W of CPU and 50 W of GPU above idle."""
    moments = [0.5 * number for number in range(1, 101)]
    during = [end for end in moments if 20.0 < end <= 24.0]
    return {
        "energy_data": {
            "cpu": split(
                ["time_elapsed", "energy (J)"], [[t, 90.0 if t in during else 40.0] for t in moments]
            ),
            "ram": split(["time_elapsed", "energy (J)"], [[t, 4.0] for t in moments]),
            "gpu": split(
                ["timestamp", "power_draw (W)", "time_elapsed", "temperature"],
                [[0, 70.0 if 20.0 < t + gpu_clock <= 24.0 else 20.0, t, 35] for t in [0.0, *moments]],
            ),
        },
        "times": {
            "start_time_execution": ZERO + 20 * SECOND,
            "end_time_execution": ZERO + 24 * SECOND,
            "sys_start_time_perf": ZERO,
            "sys_start_time_nvidia": ZERO + gpu_clock * SECOND,
            **times,
        },
        "cpu_temperatures": split(["time_elapsed", "temperature"], [[0.0, 33], [1.0, 35]]),
        "settings": {"cpu_std_to_mean": 0.03, "ram_std_to_mean": 0.03, "gpu_std_to_mean": 0.01},
        "input_sizes": {"args_size": 184.0, "kwargs_size": None, "object_size": 16},
        "project_metadata": {
            "project_name": "someone_mnist",
            "project_commit": "abc",
            "script_path": "/home/someone/projects/someone_mnist_patched/src/train.py",
            "api_call_line": 70,
        },
    }


def content(*records: dict[str, Any], api: str = "tensorflow.keras.Sequential.fit()") -> bytes:
    return json.dumps([{api: item} for item in records]).encode()


def test_net_energy_of_each_device_stands_above_the_baseline_before_the_call() -> None:
    run, [measured] = read_records(content(record()))
    joules = {device: quantity.value for device, quantity in measured.joules.items()}
    assert joules == pytest.approx({"cpu": 400.0, "ram": 0.0, "gpu": 200.0}, abs=1e-6)
    assert measured.resolved
    assert (measured.low, measured.high) == pytest.approx((600.0, 600.0), abs=2.0)
    assert (measured.api, measured.file, measured.line) == ("keras.Sequential.fit", "src/train.py", 70)
    assert (measured.seconds, measured.signature.total_bytes) == (4.0, 200)
    assert (run.stable, run.temperatures, run.started) == (True, {"cpu": 34.0}, "2023-11-14T22:13:40Z")


def test_gpu_power_is_read_on_the_clock_of_the_gpu() -> None:
    """The GPU's series began seven seconds later; on the other clock the call would be elsewhere."""
    _, [measured] = read_records(content(record(gpu_clock=7)))
    assert measured.joules["gpu"].value == pytest.approx(200.0)


def test_a_call_that_has_no_samples_is_unresolved_and_without_joules() -> None:
    late = {"sys_start_time_perf": ZERO + 60 * SECOND, "sys_start_time_nvidia": ZERO + 60 * SECOND}
    _, [measured] = read_records(content(record(**late)))
    assert (measured.resolved, dict(measured.joules), measured.high) == (False, {}, None)


def test_all_records_are_imported_and_importing_again_adds_nothing(
    greenlight_folder: Path, greenlight_archive: Path, tmp_path: Path
) -> None:
    with Database.open(tmp_path / "energy.db") as database:
        first = import_greenlight(database, greenlight_folder)
        again = import_greenlight(database, greenlight_archive)
        one = database.connection.execute
        cpu = "FROM measurements WHERE cpu_joules"
        negative = one(f"SELECT count(*) {cpu} < 0").fetchone()[0]
        within = one(f"SELECT count(*) {cpu} BETWEEN -2 * cpu_stderr AND 2 * cpu_stderr").fetchone()[0]
        certain = one("SELECT count(*) FROM measurements WHERE resolved AND NOT low > 0").fetchone()[0]
        assert database.counts()["measurements"] == 2129
    assert (first.files, first.records, first.known, first.malformed) == (343, 2129, 0, [])
    assert (again.files, again.records, again.known) == (343, 0, 343)
    assert 900 < first.unresolved < 1200
    assert negative > 100, "calls that drew less than the baseline are stored as they came out"
    assert within > 800
    assert certain == 0


def samples_as_text(item: dict[str, Any]) -> None:
    item["energy_data"]["cpu"] = split(["time_elapsed", "energy (J)"], [[0.5, "much"]])  # type: ignore[list-item]


def samples_out_of_order(item: dict[str, Any]) -> None:
    item["energy_data"]["ram"] = split(["time_elapsed", "energy (J)"], [[1.0, 2.0], [0.5, 2.0]])


def an_infinite_sample(item: dict[str, Any]) -> None:
    item["energy_data"]["ram"] = '{"columns": ["time_elapsed", "energy (J)"], "data": [[0.5, Infinity]]}'


def without_times(item: dict[str, Any]) -> None:
    del item["times"]


def ends_before_it_starts(item: dict[str, Any]) -> None:
    item["times"]["end_time_execution"] = ZERO


def another_table(item: dict[str, Any]) -> None:
    item["energy_data"]["gpu"] = split(["a", "b"], [[1.0, 2.0]])


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (samples_as_text, "record 2: could not convert string to float: 'much'"),
        (samples_out_of_order, "record 2: samples are not in the order of time"),
        (an_infinite_sample, "record 2: a sample is not a finite number"),
        (without_times, "record 2: 'times' is missing"),
        (ends_before_it_starts, "record 2: the call ends before it starts"),
        (another_table, "record 2: 'time_elapsed' is not in list"),
    ],
)
def test_a_malformed_record_is_named_with_its_reason(
    spoil: Callable[[dict[str, Any]], None], reason: str
) -> None:
    bad = record()
    spoil(bad)
    with pytest.raises(Malformed) as caught:
        read_records(content(record(), bad))
    assert str(caught.value) == reason


@pytest.mark.parametrize(
    "text", [b"", b"{", b"\xff\xfe", b"[]", b"{}", b"[1]", b'[{"a": 1, "b": 2}]', b'[{"a": 1}]']
)
def test_what_is_not_a_list_of_records_is_malformed(text: bytes) -> None:
    with pytest.raises(Malformed):
        read_records(text)


def test_malformed_files_are_named_the_rest_is_imported_and_the_status_is_1(
    tmp_path: Path, energy_lsp: Invoke
) -> None:
    folder = tmp_path / "records"
    folder.mkdir()
    (folder / "1-good.json").write_bytes(content(record()))
    half = record()
    without_times(half)
    (folder / "2-bad.json").write_bytes(content(record(), half))
    (folder / "3-cut.json").write_bytes(content(record())[:-100])
    (folder / "4-good.json").write_bytes(content(record(), record(), api="tensorflow.constant()"))
    result = energy_lsp("db", "import", "greenlight", folder)
    assert result.exit_code == 1
    bad, cut = result.stderr.splitlines()
    assert bad == f"{folder}/2-bad.json: record 2: 'times' is missing"
    assert cut.startswith(f"{folder}/3-cut.json: not JSON: ")
    assert result.stdout.startswith("3 records added from 4 files, ")
    with Database.read(user_database()) as database:
        assert sorted(len(database.measurements(run.id)) for run in database.runs()) == [1, 2]


def test_a_cut_archive_is_named_and_what_came_before_is_kept(
    greenlight_archive: Path, tmp_path: Path, energy_lsp: Invoke
) -> None:
    cut = tmp_path / "cut.tar.xz"
    with greenlight_archive.open("rb") as whole, cut.open("wb") as part:
        shutil.copyfileobj(whole, part)
        part.truncate(1_000_000)
    result = energy_lsp("db", "import", "greenlight", cut)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"{cut}: cannot be read: ")
    assert len(result.stderr.splitlines()) == 1


def test_a_folder_without_records_is_an_error(tmp_path: Path, energy_lsp: Invoke) -> None:
    result = energy_lsp("db", "import", "greenlight", tmp_path)
    assert (result.exit_code, result.stderr) == (
        2,
        f"{tmp_path} holds no .json files: name the folder or archive with the records.\n",
    )
