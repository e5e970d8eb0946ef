"""Runs and measurements to fill databases with, and the raw records of the published study."""

from __future__ import annotations

import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from energy_data.model import (
    Environment,
    InputSignature,
    Machine,
    Measurement,
    MeterInfo,
    Quantity,
    RuleEvidence,
    Run,
)
from energy_lsp.cli import main
from rule_savings import SAVES

ARCHIVE = Path(__file__).parents[3] / "shared" / "greenlight" / "greenlight.tar.xz"

WORKSTATION = Machine(
    cpu="AMD Ryzen 9 7950X",
    gpu="NVIDIA RTX 4090",
    memory_bytes=64 << 30,
    os="Debian 13",
    driver="560.30",
    meters=(MeterInfo("rapl", ("cpu", "ram"), 0.001, 6.1e-5, estimated=False),),
)
EVIDENCE = replace(SAVES, rule="square-by-multiplication", machine=WORKSTATION.label, joules_before=0.0021)


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the database of whoever runs it."""
    monkeypatch.setenv("ENERGY_LSP_DB", str(tmp_path / "user" / "energy.db"))


@pytest.fixture
def run() -> Callable[..., Run]:
    """Make a run; keywords replace fields."""
    usual = Run(
        id="run-1",
        machine=WORKSTATION,
        environment=Environment("3.11.9", "2.21.0", "3.15.0"),
        command="python train.py",
        started="2026-05-01T10:00:00Z",
        meter="rapl",
        estimated=False,
        stable=True,
        commit="0badcafe",
        project="mnist",
        temperatures={"cpu": 41.5},
        seconds=12.5,
        joules={"cpu": Quantity(300.0, 2.0), "gpu": Quantity(900.0, 5.0)},
        unaccounted_joules=11.0,
    )
    return lambda **changes: replace(usual, **changes)


@pytest.fixture
def measurement() -> Callable[..., Measurement]:
    """Make a measurement; keywords replace fields."""
    usual = Measurement(
        id="",
        run_id="",
        api="keras.Sequential.fit",
        file="train.py",
        line=12,
        signature=InputSignature(("float32[128,784]",), bytes_args=401408),
        seconds=1.5,
        joules={"cpu": Quantity(30.0, 0.5), "ram": Quantity(3.0, 0.1), "gpu": Quantity(90.0, 1.0)},
        count=4,
        repeats=5,
        resolved=True,
        method="in place",
        tail_joules=1.25,
        exclusive_joules=100.0,
    )
    return lambda **changes: replace(usual, **changes)


@pytest.fixture
def evidence() -> RuleEvidence:
    return EVIDENCE


@pytest.fixture
def energy_lsp() -> Callable[..., Result]:
    """Run a command; its standard output and error are kept apart."""

    def invoke(*arguments: object, **options: Any) -> Result:
        return CliRunner().invoke(main, [str(argument) for argument in arguments], **options)

    return invoke


@pytest.fixture(scope="session")
def greenlight_archive() -> Path:
    if not ARCHIVE.exists():
        pytest.skip(f"the raw GreenLight records are not at {ARCHIVE}")
    return ARCHIVE


@pytest.fixture(scope="session")
def greenlight_folder(greenlight_archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("greenlight")
    with tarfile.open(greenlight_archive) as archive:
        archive.extractall(folder, filter="data")
    return folder
