"""Keras on JAX and PyTorch, with TensorFlow installed or not: calls wait for their results, figures name the back end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent / "backends"
PYTHON = os.environ.get("ENERGY_LSP_BACKENDS_PYTHON", sys.executable)
"""An interpreter with Keras and the back ends, where it is another one."""


def has(*names: str) -> bool:
    asked = f"import importlib.util as u; assert all(u.find_spec(n) for n in {names!r})"
    return subprocess.run([PYTHON, "-c", asked], capture_output=True, check=False).returncode == 0


def measured(program: Path, backend: str, tmp_path: Path) -> dict[str, Any]:
    if not has("keras", backend):
        pytest.skip(f"{backend} is not installed for {PYTHON}")
    command = [sys.executable, "-m", "energy_lsp", "measure", str(program), "--quick", "--format", "json"]
    done = subprocess.run(
        [*command, "--python", PYTHON, "--db", str(tmp_path / "energy.db")],
        env={**os.environ, "KERAS_BACKEND": backend},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    phases = {phase["name"]: phase["joules"] for phase in report["program"]["phases"]}
    assert abs(phases["unexplained"]) < 0.15 * report["program"]["joules"]
    return report


@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_another_back_end(backend: str, tmp_path: Path) -> None:
    report = measured(FOLDER / "matmuls.py", backend, tmp_path)
    assert report["environment"]["backend"] == backend
    assert report["environment"]["backend_version"]
    assert report["environment"]["precision"] == "float32"
    product = next(call for call in report["calls"] if call["api"] == "keras.ops.matmul")
    assert product["times"] == 6
    # 2 × 1200³ operations take milliseconds on any machine: a call that did not wait is over in microseconds.
    assert product["seconds"] > 6 * 2e-3


def test_a_step_compiled_with_jax_is_a_call(tmp_path: Path) -> None:
    report = measured(FOLDER / "compiled_jax_step.py", "jax", tmp_path)
    step = next(call for call in report["calls"] if call["kind"] == "compiled")
    assert (step["api"], step["times"], step["line"]) == ("train_step", 150, 23)
    phases = {phase["name"]: phase for phase in report["program"]["phases"]}
    assert phases["tracing"]["joules"] > phases["compiled"]["joules"], (
        "compiling takes longer than 150 small steps"
    )


def test_what_pytorch_compiles_is_a_call(tmp_path: Path) -> None:
    report = measured(FOLDER / "compiled_torch_step.py", "torch", tmp_path)
    compiled = {call["api"]: call for call in report["calls"] if call["kind"] == "compiled"}
    told = {api: (call["times"], call["line"]) for api, call in compiled.items()}
    assert told == {"step": (30, 32), "Net.forward": (12, 39)}, "what a graph calls is a part of it"
    phases = {phase["name"]: phase for phase in report["program"]["phases"]}
    assert phases["tracing"]["joules"] > 0
    assert phases["compiled"]["joules"] > 0


def test_a_loop_by_hand_on_pytorch_is_no_python(tmp_path: Path) -> None:
    report = measured(FOLDER / "torch_loop.py", "torch", tmp_path)
    told = {call["api"]: (call["kind"], call["times"], call["line"]) for call in report["calls"]}
    assert told["torch.Tensor.backward"] == ("api", 40, 19)
    assert told["torch.nn.Module.__call__"] == ("api", 40, 18)
    assert told["torch.optim.Adam.step"] == ("api", 40, 20)
    assert told["shifted"] == ("compiled", 1, 15), "PyTorch looks through the probe"
    phases = {phase["name"]: phase["joules"] for phase in report["program"]["phases"]}
    assert phases["calls"] > phases["python"]
