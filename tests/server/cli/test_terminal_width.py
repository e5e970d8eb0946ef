"""Everything that prints a table: at 80 and 60 columns no line is longer, and no word is broken."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from rich.cells import cell_len

from energy_data.database.database import Database
from energy_data.model import (
    CallSpan,
    Environment,
    InputSignature,
    Inside,
    Machine,
    Measurement,
    Part,
    Phase,
    Quantity,
    Run,
)
from energy_lsp.cli import main
from energy_lsp.terminal.fitting import shortened, wrapped

LONG = "tensorflow.keras.applications.mobilenet_v3_with_a_long_name.MobileNetV3Small.train_on_batch"
PLACE = "a/rather/deep/folder/of/a/project/with_a_module_of_many_words.py"
PROGRAM = f"""import tensorflow as tf
from tensorflow import keras

def a_function_with_a_name_that_is_long_enough_to_be_shortened(first_argument, second_argument):
    return tf.reduce_sum(tf.square(first_argument - second_argument)) / 2 + 1 / tf.sqrt(first_argument)

model = keras.Sequential([keras.layers.Dense(10)])
{"model.fit(tf.zeros((4, 3)), tf.zeros((4, 10)), epochs=3, batch_size=2, verbose=0)"}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("width")
    (path / "a_program_with_quite_a_long_name.py").write_text(PROGRAM)
    with Database.open(path / "energy.db") as opened:
        for number in range(3):
            run = Run(
                id=f"2026111{number}-010203-abcdef{number}",
                machine=Machine(
                    "AMD EPYC 7763 64-Core Processor (128 CPUs)", "NVIDIA A100", 8 << 30, "Linux", ""
                ),
                environment=Environment("3.11", "2.21.0", "3.15.1"),
                command=f"python {PLACE} --epochs <2>",
                started=f"2026-11-1{number}T02:00:00+00:00",
                meter="rapl+nvml",
                estimated=True,
                stable=True,
                seconds=123.456,
                joules={"cpu": Quantity(1234.5 + number, 0.1)},
                unaccounted_joules=2.0,
                commit=f"c0ffee{number}00001111",
            )
            calls = [
                Measurement(
                    id=f"m{number}-{line}",
                    run_id=run.id,
                    api=LONG if line % 2 else "tensorflow.reshape",
                    file=PLACE,
                    line=line,
                    signature=InputSignature(),
                    seconds=1.0,
                    joules={"cpu": Quantity(10.0**-line, 0.0)},
                    count=3,
                    repeats=1,
                    resolved=True,
                    method="in place",
                    function="main",
                    text=f"call{line}",
                )
                for line in range(1, 7)
            ]
            phases = [
                Phase(run.id, "imports", 300.0, 1.0, {"tensorflow": 200.0}),
                Phase(run.id, "calls", 934.5, 3.0),
            ]
            parts = [
                Part(
                    run.id,
                    f"m{number}-1",
                    f"a_model/block_of_some_layers/convolution_{one}",
                    "Conv2D",
                    "forward",
                    PLACE,
                    one,
                    1.0 / one,
                    0.1,
                    5,
                    5,
                    0.9 / one,
                    1.1 / one,
                )
                for one in range(1, 5)
            ]
            note = "Windows of steps were profiled, 54% of the energy; the rest is extrapolated from them."
            spans = [CallSpan(run.id, LONG, PLACE, 1, 0, 0.1, 0.9)]
            opened.replace_run(run, calls, (), spans, phases, parts, Inside(run.id, note, 0.5))
    return path


COMMANDS: dict[str, list[str]] = {
    "check": ["check", "{folder}/a_program_with_quite_a_long_name.py", "--exit-zero", "--statistics"],
    "calls": ["calls", "{folder}/a_program_with_quite_a_long_name.py"],
    "rules list": ["rules", "list"],
    "rules show": ["rules", "show", "rsqrt"],
    "predict": ["predict", "{folder}/a_program_with_quite_a_long_name.py"],
    "inside": ["inside", "latest"],
    "inside by pass": ["inside", "latest", "--by", "pass"],
    "report": ["report"],
    "runs": ["runs"],
    "runs compare": ["runs", "compare", "20261110"],
    "runs history": ["runs", "history"],
    "runs history of a call": ["runs", "history", "--call", "reshape"],
    "compare inside": ["compare", "--inside", "20261110", "20261111"],
    "db info": ["db", "info"],
    "db lookup": ["db", "lookup", "tf.matmul"],
    "doctor": ["doctor"],
    "help": ["--help"],
    "measure help": ["measure", "--help"],
}


def command_output(arguments: list[str], folder: Path, columns: int) -> str:
    database = str(folder / "energy.db")
    done = CliRunner().invoke(
        main,
        [one.format(folder=folder) for one in arguments],
        env={"COLUMNS": str(columns), "ENERGY_LSP_DB": database},
        # click reads the width of help by itself
        terminal_width=columns if "--help" in arguments else None,
    )
    assert done.exit_code == 0, done.output
    return done.stdout


def is_whole(line: str) -> bool:
    """Lines that hold a command to be copied, or code, stay as they are."""
    return "`energy-lsp" in line or "sudo " in line


def assert_fits(show: Callable[[int], str]) -> None:
    words = set(show(400).split())
    for columns in (80, 60):
        shown = show(columns)
        assert shown.strip()
        for line in shown.splitlines():
            assert cell_len(line) <= columns or is_whole(line), f"{columns} columns: {line}"
        broken = {
            word for word in shown.split() if word not in words and "…" not in word and set(word) != {"─"}
        }
        # Bars and counts of what is left out depend on the room there is; no word does.
        assert not {word for word in broken if word.strip(".,:;()").isalpha()}, broken


def test_what_gives_way_is_what_says_least() -> None:
    assert shortened("tensorflow.data.Dataset.from_tensor_slices", 30) == "…Dataset.from_tensor_slices"
    assert shortened("a/folder/of/train.py:12", 14) == "…/train.py:12"
    assert shortened("text_classification_from_scratch.py:19", 25) == "…from_scratch.py:19"
    assert wrapped("It takes ≈ 12.3 mJ in 4 calls.", 14) == ["It takes", "≈ 12.3 mJ in", "4 calls."]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_fits(name: str, folder: Path) -> None:
    assert_fits(lambda columns: command_output(COMMANDS[name], folder, columns))


def printed(
    function: Callable[[], None], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[[int], str]:
    def show(columns: int) -> str:
        monkeypatch.setenv("COLUMNS", str(columns))
        capsys.readouterr()
        function()
        return capsys.readouterr().out

    return show


def test_predictions_fit_and_no_figure_loses_its_origin(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from energy_lsp.predicting.program import KnownCall
    from energy_lsp.terminal.predict_table import print_predictions

    ended = ("finished", "failed", "partial")
    calls = [
        KnownCall(LONG, PLACE, at, 1, None, 9, "site", 2.0 / at, run_status=ended[at % 3]) for at in (1, 2, 3)
    ]
    show = printed(lambda: print_predictions(calls, (3.7, 3.0, 4.0, 2), None), capsys, monkeypatch)
    assert_fits(show)
    rows = [line for line in show(60).splitlines() if ".py:" in line]
    assert len(rows) == len(calls)
    assert all("measured here" in row for row in rows), rows


def test_a_measurement_fits(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from energy_lsp.terminal.measure_table import print_table
    from energy_measure.attribution.phases import PhaseShare

    def call(number: int) -> Any:
        site = SimpleNamespace(api=LONG, place=f"{PLACE}:{number}")
        return SimpleNamespace(
            site=site,
            tracing=False,
            method="replayed" if number % 2 else "in place",
            count=1234,
            resolved=number != 3,
            total=10.0**-number,
            run_joules=1234 * 10.0**-number,
            interval=SimpleNamespace(low=0.9, high=1.2),
            interval_covers="sampling and runs",
            interval_runs=5,
            usual_spread=None,
        )

    program = SimpleNamespace(
        calls=[call(number) for number in range(20)],
        repeats=5,
        total=3600.0,
        seconds=12.3,
        unaccounted=1.5,
        variation=0.02,
        outliers=(1,),
        interval=SimpleNamespace(low=3500.0, high=3700.0),
        phases={
            "imports": PhaseShare(12.0, 3.0, {"tensorflow": 10.0, "a_package_with_a_long_name": 2.0}),
            "unexplained": PhaseShare(-2.35e-5, 0.0, {}),
        },
    )
    one = SimpleNamespace(
        program=program, status="failed", command=f"python {PLACE}", error="URLError: no", run_id="r"
    )
    measured: Any = SimpleNamespace(
        estimated=True,
        programs=[one],
        meter="cpu-time",
        machine=Machine("AMD EPYC 7763 64-Core Processor (128 CPUs)", "", 1, "Linux", ""),
        known=True,
        database=Path("/somewhere/energy.db"),
    )
    show = printed(lambda: print_table(measured), capsys, monkeypatch)
    assert_fits(show)
    assert "-23.5" not in show(80)
    assert "Whole program: ≈ 3.60 kJ (1.00 Wh)" in show(80)
    assert "… and 17 calls more with ≈ " in show(80), "below 1% of the program"


def test_a_comparison_fits_and_says_medians_everywhere(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from energy_lsp.cli.measuring.compared import print_compared
    from energy_measure.comparison.effects import effects
    from energy_measure.comparison.pairs import compare
    from energy_measure.comparison.programs import ProgramPair

    before, after = (2.0, 2.0, 2.0, 2.0, 2.0, 8.0), (1.0, 1.0, 1.0, 1.0, 1.0, 7.0)
    found: Any = SimpleNamespace(
        comparison=compare(before, after, before, (4.0, 3.0)),
        effects=effects({("cpu", "J"): (before, after), ("time", "s"): (before, after)}),
        hot_functions=None,
        metrics=({}, {}),
        printed=SimpleNamespace(times=False, difference=0.0),
        estimated=True,
        meter="cpu-time",
        machine="AMD EPYC 7763 64-Core Processor (128 CPUs)",
    )
    pair = ProgramPair(Path("before.py"), Path("after.py"), Path("python"), outputs="differ")
    show = printed(lambda: print_compared(found, pair), capsys, monkeypatch)
    assert_fits(show)
    for width in (60, 80, 200):
        text = show(width)
        assert re.search(r"^energy, median +2\.00 J +1\.00 J$", text, re.M)
        assert re.search(r"^time, median +4\.00 s +3\.00 s$", text, re.M)
        assert "What they print was not compared." in " ".join(text.split())
        head = next(line for line in text.splitlines() if line.startswith("median "))
        assert head.count("(mean)") in (0, 2), "of both sides or of none"
    assert re.search(r"^cpu +2 J .* 3 J +1 J .* 2 J ", show(200), re.M)


def test_a_sweep_fits(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from energy_lsp.cli.measuring.sweep import _print

    samples = [SimpleNamespace(size=1, joules=0.1), SimpleNamespace(size=64, joules=12.0)]
    curve = SimpleNamespace(
        name=LONG,
        samples=samples,
        against="bytes of the first argument",
        best=SimpleNamespace(formula="0.123 + 4.56e-7 × size", error=0.12),
        correlation=SimpleNamespace(pearson=0.99, low=0.9, high=1.0),
    )
    swept: Any = SimpleNamespace(
        curves=[curve], estimated=True, meter="cpu-time", machine="AMD EPYC (2 CPUs)"
    )
    assert_fits(printed(lambda: _print(swept), capsys, monkeypatch))


def test_tuning_fits(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from energy_lsp.terminal import tune_table

    row = tune_table._row
    candidate = {
        "name": "missing-function",
        "file": PLACE,
        "line": 12,
        "place": f"{PLACE}:12",
        "saved_joules": 1.2,
        "interval": {"low": 1.1, "high": 1.3},
        "share": 0.3,
        "seconds": 1.5,
        "environment": {},
        "results": "seeds",
        "verdict": "proven",
        "note": "The step is taken out of the loop and compiled, which leaves its results as they are.",
    }
    assert row(candidate, "≈ ")
    told = {
        "estimated": True,
        "meter": "cpu-time",
        "before": {"joules": 12.0, "seconds": 3.0},
        "after": None,
        "candidates": [candidate],
    }
    result: Any = SimpleNamespace(as_json=lambda: told, files={}, applied={})
    assert_fits(printed(lambda: tune_table.print_tuned(result, False), capsys, monkeypatch))


def test_a_campaign_fits(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from energy_lsp.cli.measuring.campaign import _print

    job = SimpleNamespace(project=f"{PLACE}/project", backend="", label=f"{PLACE} run 1")
    failure = "The environment could not be made: no matching distribution was found for tensorflow==1.4."
    outcome: Any = SimpleNamespace(
        job=job, host="here", runs=["20261111-010203-abcdef1"], measured=True, failure=""
    )
    failed: Any = SimpleNamespace(job=job, host="here", runs=[], measured=False, failure=failure)
    assert_fits(printed(lambda: _print("all", folder / "energy.db", [outcome, failed]), capsys, monkeypatch))


def test_a_terminal_has_its_own_width_and_no_colour_when_asked(folder: Path) -> None:
    """In a real terminal, whatever COLUMNS says elsewhere."""
    master, slave = pty.openpty()
    try:
        import termios

        termios.tcsetwinsize(slave, (40, 70))  # type: ignore[attr-defined,unused-ignore]
    except AttributeError:
        pytest.skip("Python 3.10 cannot set the size of a terminal")
    environment = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "NO_COLOR")}
    environment |= {"ENERGY_LSP_DB": str(folder / "energy.db"), "TERM": "xterm"}
    command = [sys.executable, "-m", "energy_lsp", "runs", "--no-color"]
    process = subprocess.Popen(command, stdout=slave, stderr=slave, env=environment)
    os.close(slave)
    output = b""
    while True:
        try:
            part = os.read(master, 4096)
        except OSError:  # the terminal is closed
            break
        if not part:
            break
        output += part
    assert process.wait(60) == 0
    text = re.sub(r"\x1b\[[012]?m", "", output.decode())  # bold and dim are no colours
    assert all(cell_len(line) <= 70 or is_whole(line) for line in text.splitlines())
    assert "\x1b" not in text


def test_nobody_needs_to_read_to_the_end(folder: Path) -> None:
    command = f"{sys.executable} -m energy_lsp rules list | head -n 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["mesure", "x.py"], "Did you mean measure?"),
        (["rules", "lst"], "Did you mean list?"),
        (["db", "lokup"], "Did you mean lookup?"),
        (["check", "--exclud", "x", "."], "Did you mean '--exclude'?"),
        (["runs", "shwo"], "Did you mean show?"),
        (["nothing-of-the-kind-at-all"], "`energy-lsp --help` names them all."),
    ],
)
def test_a_wrong_name_is_answered_with_the_nearest(arguments: list[str], words: str) -> None:
    done = CliRunner().invoke(main, arguments, prog_name="energy-lsp")
    assert done.exit_code == 2
    assert words in done.stderr
