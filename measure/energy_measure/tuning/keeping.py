"""What tuning found, as evidence in the database: measured in this program, at this place."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from energy_data.database.database import Database
from energy_data.model import RuleEvidence
from energy_data.program_evidence import in_program
from energy_data.project_identity import project_ids

if TYPE_CHECKING:
    from energy_measure.tuning.trial import Trial, Tuned


def keep(tuned: Tuned, lines: Mapping[str, str], root: Path, database: Path, tensorflow: str) -> int:
    """Write down what was confirmed singly, whatever came out; how many that were."""
    identity = project_ids(root.resolve())[0]
    found = [row for trial in tuned.trials if (row := _evidence(trial, tuned, lines, identity, tensorflow))]
    if found:
        with Database.open(database) as opened:
            opened.add_evidence(found)
    return len(found)


def _evidence(
    trial: Trial, tuned: Tuned, lines: Mapping[str, str], identity: str, tensorflow: str
) -> RuleEvidence | None:
    candidate, found = trial.candidate, trial.comparison
    if found is None or trial.p_value is None or not candidate.file:
        return None
    line = lines.get(candidate.where, "")
    if not line.strip():
        return None
    return RuleEvidence(
        rule=candidate.name,
        size=in_program(identity, candidate.file, line),
        mode="eager",
        pairs=found.pairs,
        ratio=found.ratio,
        low=found.low,
        high=found.high,
        p_value=trial.p_value,
        a12=found.a12,
        control_ratio=found.control_ratio,
        joules_before=found.joules_before,
        machine=tuned.machine,
        meter=tuned.meter,
        estimated=tuned.estimated,
        measured=datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        tensorflow=tensorflow,
    )
