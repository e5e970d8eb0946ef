"""The account of ordinary programs adds up: every joule in a phase, the costliest call first, no impossible power.

The programs are what people write, small enough that all of them are measured: importing TensorFlow takes most of it.
`python benchmarks/accounts.py` prints the table.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

from energy_data.database.database import Database
from energy_data.model import PHASES

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "accounts.py"
sys.path.insert(0, str(BENCHMARK.parent))  # it shares modules with the other benchmarks
_specification = importlib.util.spec_from_file_location("accounts", BENCHMARK)
assert _specification is not None
assert _specification.loader is not None
accounts: Any = importlib.util.module_from_spec(_specification)
sys.modules["accounts"] = accounts
_specification.loader.exec_module(accounts)

RAN = {  # program: a call that says what the program is about, and how often it runs
    "actor_critic.py": ("api", "keras.optimizers.Adam.apply_gradients", 3),
    "callbacks_in_fit.py": ("api", "keras.Sequential.fit", 1),
    "children.py": ("api", "tensorflow.linalg.matmul", 20),
    "clusters.ipynb": ("compiled", "step", 60),
    "compiled_step.py": ("compiled", "train_step", 256),
    "eager_loop.py": ("api", "tensorflow.linalg.matmul", 120),
    "fit.py": ("api", "keras.Sequential.fit", 1),
    "gan.py": ("api", "keras.Model.fit", 1),
    "mirrored.py": ("compiled", "step", 64),
    "recurrent.py": ("api", "keras.Sequential.predict", 12),
    "save_and_load.py": ("api", "keras.saving.load_model", 1),
    "several_files": ("compiled", "Trainer.step", 64),
    "transformer.py": ("api", "keras.Model.evaluate", 1),
    "vae.py": ("api", "keras.Model.predict", 16),
}


def programs() -> list[Any]:
    found = accounts.programs_in(accounts.PROGRAMS)
    return [
        pytest.param(path, id=path.parent.name if path.name == "main.py" else path.name) for path in found
    ]


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
    kind, api, times = RAN[account.name]
    ran = [call for call in calls if (call["kind"], call["api"]) == (kind, api) and not call["trace_time"]]
    assert times in [call["times"] for call in ran], [
        (call["kind"], call["api"], call["times"]) for call in calls
    ]
    assert all(call["line"] > 0 and call["column"] > 0 for call in ran)
    with Database.read(database) as stored:
        (run,) = stored.runs()
        kept = {phase.name: phase.joules for phase in stored.phases(run.id)}
    assert kept == pytest.approx(account.phases)
    assert run.project_id
