"""Profiles become rows: those of the processor, of a GPU, and those that are broken."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from energy_measure.attribution.events import Events
from energy_measure.injected.inside import reader
from energy_measure.injected.inside.journal import Journal
from energy_measure.injected.inside.windows import Windows
from energy_measure.inside.account import Metered, call_accounts
from energy_measure.inside.origins import Origins
from energy_measure.inside.recorded import read_recorded

from .test_splitting import attribution, level

Writing = Callable[..., Path]
GRAPH = ["graph", ["__inference_step_1", [["net/a/MatMul", 1, "", "", -1]]]]
LAYERS = [["layer", [1, "Dense", ["model.py", 3, "<module>"]]], ["path", [1, "net/a"]]]


def profile(messages: Any, plane_name: str, line_name: str, events: list[tuple[str, int, int]]) -> bytes:
    """A profile of one line: name, start and end of its events, in milliseconds."""
    space = messages.XSpace()
    plane = space.planes.add(name=plane_name)
    plane.stat_metadata[1].name = "tf_op"
    line = plane.lines.add(id=1, name=line_name)
    for number, (name, start, end) in enumerate(events, 1):
        plane.event_metadata[number].name = "kernel" if "GPU" in plane_name else name
        event = line.events.add(
            metadata_id=number, offset_ps=start * 10**9, duration_ps=(end - start) * 10**9
        )
        if "GPU" in plane_name:
            event.stats.add(metadata_id=1, str_value=name)
    return bytes(space.SerializeToString())


def test_an_operation_inside_another_takes_its_time_from_it(messages: Any, journal: Writing) -> None:
    content = profile(messages, "/host:CPU", "tf_Compute/1", [("outer:While", 0, 10), ("inner:Mul", 2, 5)])
    path = journal([], [content])
    reader.read_process(str(path), messages)
    names = json.loads(path.with_suffix(".json").read_text())["names"]
    rows = np.fromfile(path.with_suffix(".rows"), "<i8").reshape(-1, 7)
    spent = {
        name: int((rows[rows[:, 1] == n, 5] - rows[rows[:, 1] == n, 4]).sum()) for n, name in enumerate(names)
    }
    assert spent == {"outer:While": 7_000_000, "inner:Mul": 3_000_000}


def test_kernels_of_a_gpu_are_read_by_the_operation_that_launched_them(
    messages: Any, journal: Writing
) -> None:
    content = profile(
        messages,
        "/device:GPU:0",
        "Stream #14(Compute)",
        [("StatefulPartitionedCall/net/a/MatMul:MatMul", 0, 60)],
    )
    steps = ["steps", [[0, 0, 10_000_000, 1, 1]]]
    path = journal([*LAYERS, GRAPH, ["function", [0, "__inference_step_1"]], steps], [content])
    reader.read_process(str(path), messages)
    gpu = attribution([1.0])
    device = Metered(
        type(gpu)("gpu", *[getattr(gpu, name) for name in type(gpu).__slots__[1:]]), level([10.0])
    )
    account = call_accounts(read_recorded(path.parent), Events.of([0], [0], [100_000_000]), [device])[0]
    assert round(account.parts["net/a", "forward"].joules, 6) == 0.6


def test_compiled_kernels_of_a_gpu_find_their_module(messages: Any, journal: Writing) -> None:
    # As CUPTI's collector writes them: texts by reference, numbers as texts.
    space = messages.XSpace()
    plane = space.planes.add(name="/device:GPU:0")
    for number, name in enumerate(("hlo_op", "hlo_module", "program_id", "fusion.1", "cluster"), 1):
        plane.stat_metadata[number].name = name
    plane.event_metadata[1].name = "fusion_1"
    for line_name in ("Stream #14(Compute)", "XLA Ops"):  # the second is derived from the first
        line = plane.lines.add(id=len(plane.lines), name=line_name)
        event = line.events.add(metadata_id=1, offset_ps=0, duration_ps=60 * 10**9)
        event.stats.add(metadata_id=1, ref_value=4)
        event.stats.add(metadata_id=2, ref_value=5)
        event.stats.add(metadata_id=3, str_value="7")
    path = journal([*LAYERS, GRAPH], [space.SerializeToString()])
    reader.read_process(str(path), messages)
    (found,) = read_recorded(path.parent)
    assert found.names == ["hlo:cluster(7):fusion.1"]
    found.modules = {"cluster(9)": {"fusion.1": ["net/a/MatMul"]}}
    assert Origins(found).of(found.names[0], "").origin.path == "net/a"
    found.modules["cluster(8)"] = {}
    assert not Origins(found).of(found.names[0], "").mapped


def test_an_event_says_the_time_where_a_profile_does_not(messages: Any, journal: Writing) -> None:
    content = profile(
        messages,
        "/host:CPU",
        "python",
        [("energy-lsp:at:7000000000", 3, 4), ("net/a/MatMul:MatMul", 13, 23)],
    )
    path = journal([*LAYERS, GRAPH], [content])
    reader.read_process(str(path), messages)
    (found,) = read_recorded(path.parent)
    assert found.rows[:, 4:6].tolist() == [[7_010_000_000, 7_020_000_000]]


def test_broken_profiles_cost_the_inside_alone(messages: Any, journal: Writing) -> None:
    whole = profile(messages, "/host:CPU", "tf_Compute/1", [("net/a/MatMul:MatMul", 0, 10)])
    path = journal([*LAYERS, GRAPH], [whole, whole[: len(whole) // 2], b""])
    reader.read_process(str(path), messages)
    (found,) = read_recorded(path.parent)
    assert len(found.rows) == 1
    assert [note.split(" (")[0] for note in found.notes] == ["A window's profile cannot be read"] * 2


def test_a_journal_that_ends_in_the_midst_of_a_line_is_read(messages: Any, journal: Writing) -> None:
    path = journal([*LAYERS], [profile(messages, "/host:CPU", "t", [("a:Mul", 0, 1)])])
    with path.open("a") as file:
        file.write('["session", ["profile-7-9", 0')
    reader.read_process(str(path), messages)
    (found,) = read_recorded(path.parent)
    assert found.layers[1].path == "net/a"
    assert len(found.sessions) == 1


def test_names_of_layers_are_only_text(messages: Any, journal: Writing) -> None:
    odd = "<b>a</b>\n[x](http://y)"
    layers = [["layer", [1, "Dense", ["model.py", 3, "<module>"]]], ["path", [1, odd]]]
    path = journal([*layers, GRAPH], [profile(messages, "/host:CPU", "t", [("net/a/MatMul:MatMul", 0, 1)])])
    reader.read_process(str(path), messages)
    assert read_recorded(path.parent)[0].layers[1].path == odd


def test_whatever_goes_wrong_while_looking_the_program_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    windows = Windows(Journal(str(tmp_path)), everything=True)

    def broken() -> None:
        raise OSError("no space left")

    monkeypatch.setattr(windows, "open", broken)
    began = windows.begin("step")
    windows.end("step", began)
    assert began > 0
    assert windows.given_way
    assert windows.journal.notes == {"Looking inside ended with an error (OSError)."}


FUSED = [
    *[
        ["layer", [number, kind, ["model.py", number, "<module>"]]]
        for number, kind in enumerate(("Conv2D", "Conv2D", "Add", "ReLU"), 1)
    ],
    *[["path", [number, f"net/{name}"]] for number, name in enumerate(("left", "right", "add", "relu"), 1)],
]
RESIDUAL = [
    ["net/left/Conv2D", 1, "", "", -1],
    ["net/left/BiasAdd", 1, "", "", -1],
    ["net/right/Conv2D", 2, "", "", -1],
    ["net/right/BiasAdd", 2, "", "", -1],
    ["net/add/Add", 3, "", "", -1],
    ["net/relu/Relu", 4, "", "", -1],
]
"""Both sides of an addition are convolutions: TensorFlow fuses one of them with it."""
SIDES = [[5, [["Conv2D", 4, 1, 0], ["Conv2D", 4, 3, 2]]]]


@pytest.mark.parametrize(("alone", "fused"), [("left", "right"), ("right", "left")])
def test_the_side_of_an_addition_that_ran_by_itself_is_not_the_fused_one(
    messages: Any, journal: Writing, alone: str, fused: str
) -> None:
    kernel = "_MklNativeFusedConv2D"
    events = [(f"net/{alone}/BiasAdd:{kernel}", 0, 10), (f"net/relu/Relu:{kernel}", 10, 40)]
    content = profile(messages, "/host:CPU", "tf_Compute/1", events)
    path = journal([*FUSED, ["graph", ["__inference_step_1", RESIDUAL, SIDES]]], [content])
    reader.read_process(str(path), messages)
    (found,) = read_recorded(path.parent)
    origins = Origins(found)
    own, whole = (origins.of(name, "") for name in found.names)
    assert (own.origin.path, own.fused) == (f"net/{alone}", ())
    assert whole.origin.path == f"net/{fused}"
    assert [one.path for one in whole.fused] == ["net/add", "net/relu"]
    assert whole.operation == "FusedConv2D + add + relu"


def test_a_kernel_that_fuses_nothing_stays_with_its_name(messages: Any, journal: Writing) -> None:
    content = profile(messages, "/host:CPU", "tf_Compute/1", [("net/relu/Relu:Relu", 0, 10)])
    path = journal([*FUSED, ["graph", ["__inference_step_1", RESIDUAL, SIDES]]], [content])
    reader.read_process(str(path), messages)
    (found,) = read_recorded(path.parent)
    assert Origins(found).of(found.names[0], "").origin.path == "net/relu"
