"""The account of ordinary programs adds up: every joule in a phase, the costliest call first, no impossible power.

The programs are what people write. A few are measured with the suite, all of them by hand:
`ENERGY_LSP_ALL_ACCOUNTS=1 pytest tests/accounts`, or `python benchmarks/accounts.py`.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from energy_data.database.database import Database
from energy_data.model import PHASES

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "accounts.py"
_specification = importlib.util.spec_from_file_location("accounts", BENCHMARK)
assert _specification is not None
assert _specification.loader is not None
accounts: Any = importlib.util.module_from_spec(_specification)
sys.modules["accounts"] = accounts
_specification.loader.exec_module(accounts)

MOSTLY = {  # program: the call that its energy is about
    "compiled_step.py": ("compiled", "train_step", 256),
    "gan.py": ("api", "keras.Model.fit", 1),
    "clusters.ipynb": ("compiled", "step", 60),
    "several_files": ("compiled", "Trainer.step", 64),
}
ALL = pytest.mark.skipif(
    not os.environ.get("ENERGY_LSP_ALL_ACCOUNTS"), reason="all accounts: set ENERGY_LSP_ALL_ACCOUNTS=1"
)
ALWAYS = ("compiled_step.py", "clusters.ipynb")


def programs() -> list[Any]:
    found = []
    for path in accounts.programs_in(accounts.PROGRAMS):
        name = path.parent.name if path.name == "main.py" else path.name
        found.append(pytest.param(path, id=name, marks=() if name in ALWAYS else ALL))
    return found


@pytest.mark.tensorflow
@pytest.mark.parametrize("program", programs())
def test_the_account_adds_up(program: Path, tmp_path: Path) -> None:
    pytest.importorskip("tensorflow", reason="the programs need TensorFlow")
    database = tmp_path / "energy.db"
    account = accounts.measure(program, database, ["--python", sys.executable])
    assert account.status == 0, account.errors
    assert tuple(account.phases) == PHASES
    assert account.problems() == []
    assert account.hotspots, "the costliest call of the run is what `check` names first"
    assert account.hotspots[0]["total_joules"] == pytest.approx(account.costliest["total_joules"])
    calls = account.report["calls"]
    resolved = [call["total_joules"] for call in calls if call["resolved"]]
    assert resolved == sorted(resolved, reverse=True), "the costliest first"
    if account.name in MOSTLY:
        kind, api, times = MOSTLY[account.name]
        found = next(call for call in calls if call["kind"] == kind and not call["trace_time"])
        assert (found["api"], found["times"]) == (api, times)
        assert found["line"] > 0
        assert found["column"] > 0
    with Database.read(database) as stored:
        (run,) = stored.runs()
        kept = {phase.name: phase.joules for phase in stored.phases(run.id)}
    assert kept == pytest.approx(account.phases)
    assert run.project_id
