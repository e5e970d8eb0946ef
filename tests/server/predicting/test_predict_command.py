"""`energy-lsp predict`: figures of a program that never ran, from a calibration made for the test."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from lsprotocol import types

from energy_code.analysis.call_text import call_text
from energy_code.text.lines import Lines
from energy_data.database.calibrations import calibrations, cost_model, put_calibration, set_corrections
from energy_data.database.database import Database
from energy_data.model import (
    Calibration,
    Coefficient,
    Environment,
    InputSignature,
    Machine,
    Measurement,
    MeterInfo,
    Quantity,
    Run,
)
from energy_data.prediction.cost_model import EDITION
from energy_data.prediction.specs import CallSpec, Prediction, Tensor
from energy_lsp.checking.run import CLIENT
from energy_lsp.cli import main
from energy_lsp.features.hover import hover_at, saving_text
from energy_lsp.features.inlay_hints import inlay_hints_in
from energy_lsp.predicting import choice as choosing
from energy_lsp.predicting import in_editor
from energy_lsp.predicting.correction import apis_that_are_off, correct
from energy_lsp.predicting.impact import predicted_impact
from energy_lsp.predicting.wording import first_cost
from energy_lsp.presentation.pipeline import read_reports
from energy_lsp.presentation.reports.diagnostics import with_diagnostics
from energy_lsp.presentation.reports.impact import impact_of
from energy_lsp.session.open_file import LONGEST_FORESEEN, impacts
from energy_lsp.workspace.folders import Folder
from energy_measure.machine.describe import describe

SOURCE = """
import numpy as np
import tensorflow as tf
import keras

x = np.zeros((640, 20), dtype="float32")
y = np.zeros((640,))
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, y, epochs=2)
for step in range(5):
    tf.exp(np.zeros((2000, 2000), dtype="float32"))
tf.exp(np.zeros((2, 2), dtype="float32"))
tf.exp(np.load("unknown.npy"))
"""
VERSIONS = ("2.21.0", "3.15.1")


def coefficients():
    def made(name, mode, *values, **more):
        return Coefficient("c", name, mode, "", tuple(map(float, values)), 0.0, 1.0, 5, **more)

    wide = {"reach": (1e9, 1e12, 1e9)}
    found = [
        made("cpu", "", 2.0),
        made("edition", "", EDITION),
        made("tensorflow.math.exp", "eager", 1e-5, 1e-9, 0.0, **wide),
        made("interval", "call:eager", *[-0.5] * 4, *[0.5] * 4),
        made("interval", "fit", -0.2, 0.2),
        made("interval", "trace:fit", -0.3, 0.3),
        made("optimizer:Adam", "graph", 0.0, 1e-5, 0.0),
        made("scale", "fit", 1.0),
        made("step", "fit", 1e-3, 0.0, 0.0),
        made("once", "fit", 0.1, 0.05),
        made("trace", "fit", 0.5, 1.0, 0.0),
    ]
    for mode in ("forward", "train", "first"):
        found.append(made("layer:Dense", mode, 1e-3, 0.0, 0.0, 0.0, trace=0.1, **wide))
        found.append(made("layer:Flatten", mode, 0.0))
    return found


@pytest.fixture
def database(tmp_path, monkeypatch):
    monkeypatch.setattr(choosing, "versions_of", lambda python: choosing.Versions(*VERSIONS))
    file = tmp_path / "energy.db"
    environment = Environment("3.11", *VERSIONS, backend="tensorflow", device="cpu")
    calibration = Calibration(
        "c", "m", describe().label, environment, "cpu-time", True, "2026-11-17T10:00:00", False, 0.04
    )
    with Database.open(file) as opened:
        put_calibration(opened, calibration, coefficients())
    return file


def run(*arguments):
    return CliRunner().invoke(main, ["predict", *map(str, arguments)], catch_exceptions=False)


def predicted(tmp_path, database, source=SOURCE):
    program = tmp_path / "program.py"
    program.write_text(source)
    done = run(program, "--format", "json", "--db", database)
    assert done.exit_code == 0
    return json.loads(done.stdout)


def test_the_figures_are_what_the_coefficients_say(tmp_path, database):
    found = predicted(tmp_path, database)
    calls = {(call["api"], call["line"]): call for call in found["calls"]}
    fit = calls["keras.Sequential.fit", 10]
    # A step: two layers of 1 mJ, 1 mJ beside them, 4 variables; 2 epochs of 20; set-up; the trace.
    step, once, trace = 3e-3 + 4e-5, 0.1 + 2 * 0.05, 0.5 + 0.2
    assert fit["joules"] == pytest.approx(step * 40 + once + trace)
    assert fit["first_joules"] == pytest.approx(trace)
    assert fit["interval"]["low"] < fit["joules"] < fit["interval"]["high"]
    assert fit["interval"]["covers"] == "90%"
    assert fit["shape"] == "float32[640,20]"
    assert [round(layer["share"], 2) for layer in fit["layers"]] == [0.5, 0.5]
    assert {layer["line"] for layer in fit["layers"]} == {8}
    large = calls["tensorflow.math.exp", 12]
    assert large["joules"] == pytest.approx(1e-5 + 32e6 * 1e-9)
    assert large["interval"]["high"] == pytest.approx(large["joules"] * math.exp(0.5))
    assert (large["times"], large["origin"]) == (5, "predicted")
    assert large["total_joules"] == pytest.approx(5 * large["joules"])
    unknown = calls["tensorflow.math.exp", 14]
    assert (unknown["joules"], unknown["origin"]) == (None, None)
    known = [call["total_joules"] for call in found["calls"] if call["joules"] is not None]
    assert found["total"]["joules"] == pytest.approx(sum(known))
    assert found["total"]["unknown"] == len(found["calls"]) - len(known)
    assert found["calibration"]["tensorflow"] == "2.21.0"


def test_a_prediction_never_reads_like_a_measurement(tmp_path, database, monkeypatch):
    program = tmp_path / "program.py"
    program.write_text(SOURCE)
    text = run(program, "--db", database).stdout
    fit = next(line for line in text.splitlines() if ".fit" in line)
    assert re.search(r" 1\.0\d\d  0\.\d+ to \d\.\d+  predicted", fit), fit
    assert re.search(r"≈ all, J +90% interval", text)
    # What they rest on is told once, below.
    for words in (
        "Predicted, not measured",
        "shapes are read from the source",
        "calibrated here on 17 Nov 2026, TensorFlow 2.21.0",
        "estimated from CPU time",
    ):
        assert text.count(words) == 1
    monkeypatch.setenv("COLUMNS", "200")
    wide = run(program, "--db", database).stdout
    fit = next(line for line in wide.splitlines() if ".fit" in line)
    assert "float32[640,20], 2 epochs × 20 steps" in fit
    assert "first-run tracing 700 mJ" in fit
    tiny = next(line for line in text.splitlines() if ":13 " in line)
    assert re.search(r" < 0\.\d+ +predicted", tiny)  # no digits
    monkeypatch.setenv("COLUMNS", "60")
    narrow = run(program, "--db", database).stdout
    assert re.search(r"\.fit .* 1\.0\d\d\b", narrow), "the figure is the last to go"


def test_a_calibration_of_another_version_is_named_and_not_used(tmp_path, database, monkeypatch):
    monkeypatch.setattr(choosing, "versions_of", lambda python: choosing.Versions("2.22.0", "3.16.0"))
    program = tmp_path / "program.py"
    program.write_text(SOURCE)
    done = run(program, "--format", "json", "--db", database)
    assert json.loads(done.stdout)["calibration"] is None
    assert all(call["joules"] is None for call in json.loads(done.stdout)["calls"])
    assert "stale: it is of TensorFlow 2.21.0" in done.stderr
    assert "energy-lsp calibrate" in done.stderr


def test_without_a_calibration_it_says_what_to_do(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(SOURCE)
    done = run(program, "--db", tmp_path / "none.db")
    assert "Nothing is calibrated here yet: run `energy-lsp calibrate`." in done.stderr
    missing = run(tmp_path / "no.py", "--db", tmp_path / "none.db")
    assert missing.exit_code == 2
    assert "There is no" in missing.stderr


def test_a_new_calibration_takes_the_place_of_the_one_before(database):
    with Database.open(database) as opened:
        (known,) = calibrations(opened.connection)
        put_calibration(opened, known, coefficients()[:3])
        assert len(calibrations(opened.connection)) == 1
        assert opened.connection.execute("SELECT count(*) FROM coefficients").fetchone()[0] == 3


def store_measurement(database, root, joules, text=""):
    machine = Machine("cpu", "", 1, "os", "", (MeterInfo("cpu-time", ("cpu",), 0.001, 0.001, True),))
    run = Run(
        "r1", machine, Environment("3.11", *VERSIONS), "python program.py", "2026-11-18T00:00:00", "cpu-time",
        True, None, project=str(root.resolve()),
    )  # fmt: skip
    measurement = Measurement(
        "m1", "r1", "tensorflow.math.exp", "program.py", 12, InputSignature(("float32[2000,2000]",)), 0.01,
        {"cpu": Quantity(joules, 1e-4)}, 5, 1, True, "in place", low=joules * 0.9, high=joules * 1.1,
        text=text,
    )  # fmt: skip
    with Database.open(database) as opened:
        opened.add_run(run, [measurement])


def test_what_was_measured_at_a_call_stands_before_a_prediction(tmp_path, database):
    (tmp_path / "program.py").write_text(SOURCE)
    (tmp_path / "pyproject.toml").write_text("")
    store_measurement(database, tmp_path, 0.064)
    (call,) = [each for each in predicted(tmp_path, database)["calls"] if each["line"] == 12]
    assert (call["origin"], call["joules"]) == ("site", pytest.approx(0.064))


def test_measurements_move_the_scale_of_the_machine(tmp_path, database):
    (tmp_path / "program.py").write_text(SOURCE)
    (tmp_path / "pyproject.toml").write_text("")
    before = predicted(tmp_path, database)
    store_measurement(database, tmp_path, 0.064)  # twice what was predicted
    scale = correct(database, tmp_path / "program.py", tmp_path, VERSIONS)
    assert 1.0 < scale < 2.0  # one call does not have the last word
    for _ in range(30):
        scale = correct(database, tmp_path / "program.py", tmp_path, VERSIONS)
    assert scale == pytest.approx(2.0, rel=0.02)
    after = predicted(tmp_path, database)
    fits = [next(call for call in found["calls"] if call["line"] == 10) for found in (before, after)]
    assert fits[1]["joules"] / fits[0]["joules"] == pytest.approx(2.0, rel=0.02)
    assert correct(database, tmp_path / "program.py", tmp_path, ("1.0", "1.0")) is None


def test_a_budget_counts_predictions_only_when_asked(tmp_path, database):
    (tmp_path / "program.py").write_text(SOURCE)
    (tmp_path / "pyproject.toml").write_text("")
    checked = ["check", str(tmp_path / "program.py"), "--db", str(database), "--budget", "0.5"]
    without = CliRunner().invoke(main, checked, catch_exceptions=False)
    assert "Over the budget" not in without.stderr
    asked = CliRunner().invoke(main, [*checked, "--predicted"], catch_exceptions=False)
    assert asked.exit_code == 1
    assert "predicted of calls that were never measured" in asked.stderr
    assert "Over the budget" in asked.stderr


def report_of(tmp_path, database):
    folder = Folder(tmp_path, command_line={"database": str(database)})
    folder.configure()
    (report,) = read_reports(folder, tmp_path / "program.py", CLIENT)
    return report


def hovered(tmp_path, database, line, column):
    found = hover_at(report_of(tmp_path, database), types.Position(line - 1, column), markdown=False)
    return found.contents.value


def test_a_hover_predicts_a_call_that_was_never_measured(tmp_path, database):
    (tmp_path / "program.py").write_text(SOURCE)
    (tmp_path / "pyproject.toml").write_text("")
    text = hovered(tmp_path, database, 10, 7)
    assert "≈ 1.0 J predicted (" in text
    assert "not measured" in text
    assert describe().label in text  # whose coefficients they are
    assert "predicted" not in hovered(tmp_path, database, 14, 4)  # the source does not tell its shape
    store_measurement(database, tmp_path, 0.064)
    assert "predicted" not in hovered(tmp_path, database, 12, 8)  # it was measured


def test_a_hover_takes_the_calibration_of_the_projects_own_interpreter(tmp_path, database, monkeypatch):
    (tmp_path / "program.py").write_text(SOURCE)
    (tmp_path / "pyproject.toml").write_text("")
    assert "predicted" in hovered(tmp_path, database, 10, 7)
    for other in (choosing.Versions("2.22.0", "3.16.0"), choosing.Versions(*VERSIONS, "jax")):
        in_editor._versions.cache_clear()
        monkeypatch.setattr(choosing, "versions_of", lambda python, other=other: other)
        assert "predicted" not in hovered(tmp_path, database, 10, 7)
    in_editor._versions.cache_clear()


def recalibrated(database, *left_out, **changes):
    """The calibration of the tests with something changed, and without some of what it learned."""
    with Database.open(database) as opened:
        known = calibrations(opened.connection)[0]
        kept = [each for each in coefficients() if each.name not in left_out]
        put_calibration(opened, replace(known, **changes), kept)


def test_a_calibration_of_before_says_that_it_learned_less(tmp_path, database):
    program = tmp_path / "program.py"
    program.write_text(SOURCE)
    assert "earlier energy-lsp" not in run(program, "--db", database).stderr
    recalibrated(database, "edition")
    assert "earlier energy-lsp, which learned less: run `energy-lsp calibrate` again" in " ".join(
        run(program, "--db", database).stderr.split()
    )


def test_a_hover_says_what_a_quick_calibration_did_not_learn(tmp_path, database):
    (tmp_path / "program.py").write_text(SOURCE)
    (tmp_path / "pyproject.toml").write_text("")
    recalibrated(database, "tensorflow.math.exp", quick=True)
    text = hovered(tmp_path, database, 12, 8)
    assert "Not predicted: not learned when calibrated here on 17 Nov 2026" in text
    assert "without --quick" in text
    assert "Not predicted" not in hovered(tmp_path, database, 10, 7)  # it is
    assert "Not predicted" not in hovered(tmp_path, database, 14, 4)  # its shape is not known


def test_a_hover_names_a_stale_calibration(tmp_path, database, monkeypatch):
    (tmp_path / "program.py").write_text(SOURCE)
    (tmp_path / "pyproject.toml").write_text("")
    in_editor._versions.cache_clear()
    monkeypatch.setattr(choosing, "versions_of", lambda python: choosing.Versions("2.22.0", "3.16.0"))
    text = hovered(tmp_path, database, 10, 7)
    in_editor._versions.cache_clear()
    assert "is stale: it is of TensorFlow 2.21.0, Keras 3.15.1, not of TensorFlow 2.22.0" in text


def test_the_line_of_a_layer_says_its_predicted_part(tmp_path, database):
    source = SOURCE.replace("keras.layers.Dense(8), keras", "keras.layers.Dense(8),\n    keras")
    (tmp_path / "program.py").write_text(source)
    (tmp_path / "pyproject.toml").write_text("")
    text = hovered(tmp_path, database, 9, 20)
    assert "≈ 50% of fit at line 11, predicted, not measured: dense_1" in text


def test_what_was_measured_with_the_same_shapes_stands_before_a_prediction(tmp_path, database):
    (tmp_path / "program.py").write_text(SOURCE + "tf.exp(np.zeros((2000, 2000), dtype='float32'))\n")
    (tmp_path / "pyproject.toml").write_text("")
    assert "predicted" in hovered(tmp_path, database, 15, 4)
    store_measurement(database, tmp_path, 0.064)
    text = hovered(tmp_path, database, 15, 4)
    assert "64.0 mJ" in text
    assert "at another call, same shapes" in text
    assert "predicted" not in text


def test_predictions_stand_behind_calls_and_say_so(tmp_path, database):
    (tmp_path / "program.py").write_text(SOURCE)
    (tmp_path / "pyproject.toml").write_text("")
    everywhere = types.Range(types.Position(0, 0), types.Position(99, 0))
    hints = {
        each.position.line + 1: each for each in inlay_hints_in(report_of(tmp_path, database), everywhere)
    }
    assert hints[10].label == "≈ 1.0 J predicted"
    assert "not measured" in hints[10].tooltip
    assert hints[12].label == "≈ 160 mJ predicted"  # five times 32 mJ
    assert set(hints) == {10, 12}  # neither what is too short for digits nor what has no shape


def test_predictions_below_a_share_of_the_file_stand_in_hovers_alone(tmp_path, database):
    (tmp_path / "program.py").write_text(SOURCE)
    (tmp_path / "pyproject.toml").write_text("[tool.energy-lsp]\ninlay-percent = 20\n")
    below_the_dearest = types.Range(types.Position(10, 0), types.Position(99, 0))
    assert inlay_hints_in(report_of(tmp_path, database), below_the_dearest) == []


def test_shapes_that_a_run_saw_come_first(tmp_path, database):
    source = (
        "import numpy as np\nimport tensorflow as tf\nx = np.load('x.npy')\ny = tf.exp(x)\ntf.math.log(y)\n"
    )
    (tmp_path / "program.py").write_text("\n" * 8 + source)
    (tmp_path / "pyproject.toml").write_text("")
    asked = ["calls", str(tmp_path / "program.py"), "--shapes", "--format", "json", "--db", str(database)]

    def shapes(line):
        found = json.loads(CliRunner().invoke(main, asked, catch_exceptions=False).stdout)
        (call,) = [each for each in found if each["line"] == line]
        return [(each["shape"], each["from"]) for each in call["shapes"]]

    assert shapes(12) == []
    store_measurement(database, tmp_path, 0.064, call_text(b"tf.exp(x)"))
    assert shapes(12) == [("float32[2000,2000]", "recorded")]
    assert shapes(13) == [("float32[2000,2000]", "source")]  # what comes out of it is then known too
    edited = "\n" * 8 + source.replace("exp(x)", "exp(x + 1)")
    (tmp_path / "program.py").write_text(edited)
    assert shapes(12) == []


def test_a_calibration_that_makes_no_sense_is_one_sentence(tmp_path, database):
    (tmp_path / "program.py").write_text(SOURCE)
    with Database.open(database) as opened, opened.transaction():
        opened.connection.execute("UPDATE coefficients SET \"values\" = 'no numbers'")
    done = run(tmp_path / "program.py", "--format", "json", "--db", database)
    assert "cannot be read: run `energy-lsp calibrate` again." in " ".join(done.stderr.split())
    assert all(call["joules"] is None for call in json.loads(done.stdout)["calls"])


def test_a_measured_api_that_is_off_is_corrected_by_itself(database):
    with Database.open(database) as opened:
        (known,) = calibrations(opened.connection)
        spec = CallSpec("tensorflow.math.exp", (Tensor("float32", (2000, 2000)),))
        before = cost_model(opened.connection, known)
        ratios = [
            ("tensorflow.math.exp", math.log(3.0)),
            ("tensorflow.math.log", 0.0),
            ("tensorflow.sort", 0.01),
        ]
        assert apis_that_are_off(before, ratios[:1], 0.0) == {}  # it may be the machine
        with opened.transaction():
            set_corrections(opened.connection, known.id, apis_that_are_off(before, ratios, 0.0))
        after = cost_model(opened.connection, known)
    assert after.call(spec).joules / before.call(spec).joules == pytest.approx(math.sqrt(3.0))


PARTS = {
    "models.py": "import keras\nfrom keras import layers\n\ndef build(width):\n"
    "    return keras.Sequential([layers.Dense(8), layers.Dense(width)])\n",
    "steps.py": "import tensorflow as tf\n\ndef scaled(x):\n    return tf.exp(x)\n",
    "train.py": "import numpy as np\nfrom models import build\nfrom steps import scaled\n"
    'x = np.zeros((640, 20), dtype="float32")\nmodel = build(4)\nmodel.compile("adam", "mse")\n'
    "model.fit(x, x[:, :4], epochs=2)\nscaled(x)\n",
}


def test_shapes_go_from_file_to_file(tmp_path, database):
    (tmp_path / "pyproject.toml").write_text("")
    for name, text in PARTS.items():
        (tmp_path / name).write_text(text)
    found = json.loads(run(tmp_path, "--format", "json", "--db", database).stdout)
    calls = {(Path(call["file"]).name, call["line"]): call for call in found["calls"]}
    fit = calls["train.py", 7]
    assert (fit["origin"], fit["shape"]) == ("predicted", "float32[640,20]")
    assert {Path(layer["file"]).name for layer in fit["layers"]} == {"models.py"}
    assert calls["steps.py", 4]["shape"] == "float32[640,20]"


def test_a_notebook_is_one_program(tmp_path, database):
    cells = [{"cell_type": "code", "source": part, "outputs": [], "metadata": {}, "execution_count": None}
             for part in (PARTS["models.py"], "import numpy as np\n%time x = np.zeros((640, 20), dtype='float32')",
                          "model = build(4)\nmodel.compile('adam', 'mse')\nmodel.fit(x, x)")]  # fmt: skip
    book = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "book.ipynb").write_text(json.dumps(book))
    found = json.loads(run(tmp_path / "book.ipynb", "--format", "json", "--db", database).stdout)
    (fit,) = [call for call in found["calls"] if call["api"].endswith(".fit")]
    assert (fit["cell"], fit["line"], fit["shape"]) == (3, 3, "float32[640,20]")
    assert fit["origin"] == "predicted"


def test_a_finding_in_a_program_that_never_ran_says_what_it_would_save(tmp_path, database):
    source = SOURCE.replace('np.load("unknown.npy")', "x").replace(
        "tf.exp(np.zeros((2, 2)", "tf.pow(np.zeros((2, 2)"
    )
    (tmp_path / "program.py").write_text(source.replace("epochs=2", "epochs=20"))
    report = report_of(tmp_path, database)
    [finding] = [one for one in report.findings if one.rule.name == "steps-per-execution"]
    said = saving_text(report, finding)
    impact = predicted_impact(report, finding)
    assert impact is not None
    assert impact.origin == "predicted"
    assert 0.0 <= impact.joules < impact.of
    fit = next(one for one in report.hints if one.call.api.endswith(".fit"))
    [(_, prediction)] = in_editor.foretold(report, fit).asked
    assert prediction.first_joules > 0.0
    assert impact.joules <= prediction.joules - prediction.first_joules, "tracing cannot be saved"
    assert "as predicted" in said
    checked = CliRunner().invoke(
        main, ["check", "--format", "json", "--db", str(database), str(tmp_path / "program.py")]
    )
    [shown] = [one for one in json.loads(checked.stdout) if one["rule"] == "steps-per-execution"]
    assert shown["saving_origin"] == "predicted"
    assert shown["saved_joules"] == pytest.approx(impact.joules)
    assert "as predicted" in shown["message"]
    live = with_diagnostics(report, impacts(report)).diagnostics.items
    [diagnostic] = [one for one in json.loads(live) if one["code"] == "steps-per-execution"]
    assert "as predicted" in diagnostic["message"], "an editor says so while somebody types"
    longer = replace(report, lines=Lines(report.source + b"#" * LONGEST_FORESEEN))
    assert impacts(longer) is impact_of, "a long text is not gone through at every key"
    assert shown["message"].startswith("Negligible here") == impact.is_below(0.01)


def test_a_first_call_loads_and_only_a_model_traces():
    alone = Prediction(joules=0.06, low=0.01, high=0.3, seconds=0.1, first_joules=0.05)
    assert first_cost(alone) == "loading at the first call"
    assert first_cost(replace(alone, steps=4)) == "first-run tracing"
