"""Programs of all kinds, really run: every layer is found, at the line where it was created."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from energy_data.database.database import Database
from labelled_layers import labelled_source

pytestmark = [pytest.mark.tensorflow, pytest.mark.timeout(600)]

KINDS = [
    "sequential",
    "functional",
    "subclassed",
    "recurrent",
    "compiled_step",
    "mixed",
    "mirrored",
    "compiled",
    "attention",
    "wrapped",
    "twins",
    "eager",
    "shared_between_models",
    "stacked",
    "eager_fit",
    "residual",
    "raw",
]


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """The labelled program, measured once."""
    pytest.importorskip("tensorflow")
    folder = tmp_path_factory.mktemp("labelled")
    (folder / "labelled.py").write_text(labelled_source())
    database = folder / "energy.sqlite"
    command = ["measure", "labelled.py", "--quick", "--format", "json", "--inside", "all"]
    done = subprocess.run(
        [sys.executable, "-m", "energy_lsp", *command, "--db", str(database), "--", *KINDS],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), database


def test_every_layer_is_at_the_line_where_it_was_created(measured: tuple[dict[str, Any], Path]) -> None:
    labelled = [part for part in measured[0]["inside"] if re.search(r"_at\d+$", part["path"])]
    wrong = [part for part in labelled if not part["path"].endswith(f"_at{part['line']}")]
    assert not wrong
    assert {part["file"] for part in labelled} == {"labelled.py"}
    kinds = {re.sub(r"\d*_at\d+$", "", part["path"].rpartition("/")[2]) for part in labelled}
    assert kinds >= {
        "conv",
        "list",
        "loop",
        "shared",
        "in_function",
        "inner",
        "stem",
        "first",
        "head",
        "attention",
        "turned",
        "repeated",
        "cell",
        "forward_both_ways",
        "backward_both_ways",
    }


def test_layers_of_one_name_are_told_apart_by_their_lines(measured: tuple[dict[str, Any], Path]) -> None:
    lines: dict[str, set[int]] = {}
    for part in measured[0]["inside"]:
        if part["path"].startswith("twins/"):
            lines.setdefault(part["path"], set()).add(part["line"])
    assert set(lines) == {"twins/alike", "twins/alike (2)"}
    assert all(len(one) == 1 for one in lines.values())
    assert lines["twins/alike"] != lines["twins/alike (2)"]


def test_a_shared_model_is_called_where_it_is_used(measured: tuple[dict[str, Any], Path]) -> None:
    text = labelled_source().split("\n")
    uses = {number for number, line in enumerate(text, 1) if "base(left)" in line or "base(right)" in line}
    (inner,) = [
        {place["line"] for place in part["called"]}
        for part in measured[0]["inside"]
        if "/base/shared_by_two" in part["path"] and part["pass"] == "forward"
    ]
    assert len(uses) == 2
    assert inner == uses


def line_of(text: str) -> int:
    """The line of the labelled program that has a text."""
    (line,) = [number for number, one in enumerate(labelled_source().split("\n"), 1) if text in one]
    return line


def called(measured: tuple[dict[str, Any], Path], layer: str, direction: str = "forward") -> list[set[int]]:
    """The lines that call a layer, of each call that runs it."""
    return [
        {place["line"] for place in part["called"]}
        for part in measured[0]["inside"]
        if re.search(layer, part["path"]) and part["pass"] == direction
    ]


def test_a_layer_of_two_models_is_called_where_each_was_built(measured: tuple[dict[str, Any], Path]) -> None:
    found = called(measured, r"/of_two_models_at\d+$")
    assert sorted(found, key=min) == [{line_of("used = code(hidden)")}, {line_of("code(other)")}]


def test_a_layer_that_takes_a_list_is_called_where_the_model_was_built(
    measured: tuple[dict[str, Any], Path],
) -> None:
    assert called(measured, r"^whole/joined_at\d+$") == [{line_of('name="whole")')}]


def test_a_layer_with_operations_of_its_own_is_called_where_it_is_called(
    measured: tuple[dict[str, Any], Path],
) -> None:
    assert called(measured, r"^whole/own_call_at\d+$") == [{line_of("hidden = Residual(192")}]


@pytest.mark.parametrize("model", ["whole", "eagerly"])
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_a_layer_of_the_program_calls_the_layers_inside_of_it(
    measured: tuple[dict[str, Any], Path], model: str, direction: str
) -> None:
    found = called(measured, rf"^{model}/.*/first_at\d+$", direction)
    assert found
    assert set.union(*found) == {line_of("self.second(self.first(inputs))")}


def test_an_eager_fit_runs_its_layers_once_a_step(measured: tuple[dict[str, Any], Path]) -> None:
    counts = {
        (re.sub(r"_at\d+", "", part["path"]), part["pass"]): part["count"]
        for part in measured[0]["inside"]
        if part["path"].startswith("eagerly/")
    }
    assert counts["eagerly/stem", "forward"] == 2 * 2
    assert counts["eagerly/res0/first", "forward"] == 2 * 2


def test_modules_made_in_a_loop_are_told_apart(measured: tuple[dict[str, Any], Path]) -> None:
    counts = {
        part["path"]: (part["count"], part["line"])
        for part in measured[0]["inside"]
        if part["path"].startswith("stack/") and part["pass"] == "forward"
    }
    line = line_of("Square(name=")
    assert counts == {
        "stack/alike": (4, line),
        "stack/alike (2)": (4, line),
        "stack/alike (3)": (4, line),
    }


def test_what_tensorflow_fuses_is_the_convolutions(measured: tuple[dict[str, Any], Path]) -> None:
    """The profiler names a convolution with what it took in by the last of them: the ReLU behind the addition."""
    forward = {
        re.sub(r"_at\d+", "", part["path"]): part
        for part in measured[0]["inside"]
        if part["path"].startswith("residual/") and part["pass"] == "forward"
    }
    (summed, relu) = forward["residual/before_sum"]["fused"]
    assert (summed["line"], relu["line"]) == (line_of('name="sum_'), line_of('name="behind_sum_'))
    assert not forward["residual/in_both"]["fused"]  # its values are needed twice
    assert "residual/behind_sum" not in forward
    # Two batches of 32.
    assert {forward[f"residual/{name}"]["count"] for name in ("in_both", "before_sum")} == {2}


def test_what_tensorflow_fuses_of_raw_operations_is_at_the_convolutions_line(
    measured: tuple[dict[str, Any], Path],
) -> None:
    (part,) = [one for one in measured[0]["inside"] if one["path"].endswith("FusedConv2D")]
    assert part["line"] == line_of("tf.nn.conv2d(")
    assert [one["line"] for one in part["fused"]] == [
        line_of("tf.nn.bias_add("),
        line_of("tf.nn.relu(found)"),
    ]


def test_no_call_lists_layers_as_called_by_another(measured: tuple[dict[str, Any], Path]) -> None:
    fits = {call["line"] for call in measured[0]["calls"] if call["api"].endswith((".fit", ".predict"))}
    for part in measured[0]["inside"]:
        if part["call"]["line"] in fits:
            assert not {place["line"] for place in part["called"]} & fits - {part["call"]["line"]}


def test_parts_belong_to_one_call_each_and_hold_more_than_the_runtime(
    measured: tuple[dict[str, Any], Path],
) -> None:
    passes: dict[tuple[Any, ...], set[str]] = {}
    for part in measured[0]["inside"]:
        passes.setdefault(tuple(part["call"].values()), set()).add(part["pass"])
    calls = {(one["file"], one["line"], one["column"], one["api"]) for one in measured[0]["calls"]}
    assert set(passes) <= calls
    assert all(found != {"runtime"} for found in passes.values())


def test_layers_inside_layers_of_a_library_are_at_its_line(measured: tuple[dict[str, Any], Path]) -> None:
    inner = [
        part
        for part in measured[0]["inside"]
        if "/lstm_cell" in part["path"] or "attention_at" in part["path"]
    ]
    assert inner
    for part in inner:
        assert f"_at{part['line']}" in part["path"]


def test_layers_that_share_an_input_have_their_own_gradients(measured: tuple[dict[str, Any], Path]) -> None:
    backward = {
        re.sub(r"_at\d+", "", part["path"].partition("/")[2]): part["count"]
        for part in measured[0]["inside"]
        if part["pass"] == "backward" and part["joules"] > 0
    }
    assert backward["branch_0"] == backward["branch_1"] == 4
    assert {"attention/query", "attention/key", "attention/value"} <= backward.keys()


def test_an_eager_loop_is_looked_into_call_by_call(measured: tuple[dict[str, Any], Path]) -> None:
    apis = {(call["line"], call["column"]): call["api"] for call in measured[0]["calls"]}
    passes: dict[str, set[str]] = {}
    for part in measured[0]["inside"]:
        api = apis[part["call"]["line"], part["call"]["column"]]
        passes.setdefault(api, set()).add(part["pass"])
    assert "forward" in passes["keras.Sequential.__call__"]
    assert "backward" in passes["tensorflow.GradientTape.gradient"]
    assert "optimizer" in passes["keras.optimizers.SGD.apply_gradients"]


def test_layers_are_counted_by_their_calls(measured: tuple[dict[str, Any], Path]) -> None:
    """Two epochs of two steps: neither the turns of a loop nor what optimizing a graph computes count."""
    counts = {
        (re.sub(r"_at\d+", "", part["path"].partition("/")[2]), part["pass"]): part["count"]
        for part in measured[0]["inside"]
        if part["pass"] in ("forward", "backward")
    }
    for name in ("lstm", "gru", "attention", "attention/query", "each", "each/repeated", "wrapper"):
        assert counts[name, "forward"] == 4, name
    assert counts["lstm/lstm_cell", "forward"] == 4 * 8
    assert counts["base/shared_by_two", "forward"] == 2 * 4
    # 48 of 64 rows are trained on, in 2 steps, and 16 validate, in 1, in each of 2 epochs.
    (conv,) = [
        part["count"]
        for part in measured[0]["inside"]
        if part["path"].startswith("sequential/conv_at") and part["pass"] == "forward" and part["count"] > 2
    ]
    assert conv == 2 * (2 + 1)


def test_the_function_of_a_dataset_is_at_its_own_line(measured: tuple[dict[str, Any], Path]) -> None:
    text = labelled_source().split("\n")
    (line,) = [number for number, one in enumerate(text, 1) if ".map(lambda" in one]
    mapped = [part for part in measured[0]["inside"] if part["path"].startswith("tf.data/map lambda")]
    assert {(part["file"], part["line"], part["pass"]) for part in mapped} == {("labelled.py", line, "input")}


def test_parts_add_up_to_their_call_exactly(measured: tuple[dict[str, Any], Path]) -> None:
    calls = {(call["file"], call["line"]): call for call in measured[0]["calls"] if not call["trace_time"]}
    sums: dict[tuple[str, int, int], float] = {}
    for part in measured[0]["inside"]:
        at = part["call"]["file"], part["call"]["line"], part["call"]["column"]
        sums[at] = sums.get(at, 0.0) + part["joules"]
    fits = {at: joules for at, joules in sums.items() if calls[at[:2]]["api"].endswith(".fit")}
    assert fits
    for (file, line, _), joules in fits.items():
        assert joules == pytest.approx(calls[file, line]["joules"]["total"], rel=1e-9)


def test_building_a_graph_is_a_part_of_its_own(measured: tuple[dict[str, Any], Path]) -> None:
    """It lies inside of the calls, so it is at most what the phase has, and in steps as small as these most of it."""
    (phase,) = [one["joules"] for one in measured[0]["program"]["phases"] if one["name"] == "tracing"]
    inside = sum(part["joules"] for part in measured[0]["inside"] if part["kind"] == "tracing")
    assert 0.5 * phase < inside < 1.1 * phase


def test_training_has_all_its_passes(measured: tuple[dict[str, Any], Path]) -> None:
    passes = {part["pass"] for part in measured[0]["inside"]}
    assert passes == {"forward", "backward", "optimizer", "loss", "input", "runtime"}
    assert measured[0]["inside_note"].startswith("Every step was profiled.")


def test_the_database_keeps_the_parts_and_how_values_flow(measured: tuple[dict[str, Any], Path]) -> None:
    found, path = measured
    with Database.read(path) as database:
        parts = database.parts(found["run"])
        inside = database.inside(found["run"])
    assert len(parts) == len(found["inside"])
    assert inside is not None
    ends = {
        (one.rpartition("/")[2].split("_at")[0], other.rpartition("/")[2].split("_at")[0])
        for one, other in inside.flows
    }
    assert ("first", "second") in ends
    assert ("conv", "flat") in ends


def test_steps_and_layers_lie_along_the_time_of_the_run(measured: tuple[dict[str, Any], Path]) -> None:
    found, path = measured
    with Database.read(path) as database:
        spans = database.spans(found["run"])
    calls = [span for span in spans if span.api.endswith(".fit")]
    steps = [span for span in spans if span.api.startswith("step:")]
    layers = [span for span in spans if span.api.startswith("layer:") and "/lstm_at" in span.api]
    assert layers
    assert {span.line for span in layers} == {
        int(match[1]) for span in layers if (match := re.search(r"/lstm_at(\d+)", span.api))
    }
    for layer in layers:
        assert any(step.start <= layer.start and layer.end <= step.end for step in steps)
        assert any(call.start <= layer.start and layer.end <= call.end for call in calls)
