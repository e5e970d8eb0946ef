"""`energy-lsp tune`: a program's candidates, tried on copies, and what came out as JSON and as a patch."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from energy_code.rule_engine.context import Edit
from energy_measure.comparison.windows import MeteredProcess
from energy_measure.problems import MeasureProblem
from energy_measure.program.entry_points import is_empty
from energy_measure.program.interpreters import find_interpreter
from energy_measure.tuning.candidate import Candidate, edited, read_sources, together
from energy_measure.tuning.candidates import find_all
from energy_measure.tuning.keeping import keep
from energy_measure.tuning.likeness import Tolerance
from energy_measure.tuning.notebooks import SUFFIX, TunedNotebook
from energy_measure.tuning.packages import packages_of
from energy_measure.tuning.search import Tuning
from energy_measure.tuning.trial import Progress, Trial, Tuned
from energy_measure.tuning.workshop import Workshop, own_files

MINUTES = 15.0
SAME = Tolerance()
PROGRAMS = ("", ".py", ".pyw")


@dataclass(frozen=True, slots=True)
class TuneRequest:
    """What to tune and how."""

    script: Path
    project: Path
    arguments: tuple[str, ...] = ()
    minutes: float = MINUTES
    python: str = ""
    meter: str = "auto"
    tolerance: Tolerance = SAME
    only: str = ""
    """The name of the one candidate to try, as the editor does for one finding."""
    line: int = 0
    """With `only`: at this line of the script alone."""
    wait: bool = True
    database: Path | None = None
    """Where to keep what was confirmed; None: nowhere."""
    skip: tuple[str, ...] = ()
    """Names of candidates to leave out."""
    own: tuple[Path, ...] = ()
    """Files that the caller writes meanwhile."""


@dataclass(frozen=True, slots=True)
class TuneResult:
    """What came out."""

    tuned: Tuned
    files: Mapping[str, tuple[bytes, bytes]]
    """By name: as they are, and with what was chosen."""
    changed: Sequence[str]
    """Files of the project that somebody changed meanwhile."""
    edits: Mapping[str, Sequence[Edit]] = field(default_factory=dict)
    """What was chosen, in bytes of the files as they are."""
    applied: Mapping[str, tuple[bytes, bytes]] = field(default_factory=dict)
    """The files with those of the chosen alone that leave results equal: what `--apply` writes."""
    lines: Mapping[str, str] = field(default_factory=dict)
    """The source of the candidates' lines, by where they are."""

    @property
    def untouched(self) -> bool:
        """Whether the project stayed as it was."""
        return not self.changed

    @property
    def patch(self) -> str:
        """What was chosen, for `git apply` in the project's folder."""
        return "".join(_diff(name, before, after) for name, (before, after) in self.files.items())

    def as_json(self) -> dict[str, Any]:
        """As docs/reference/json.md says."""
        tuned, whole = self.tuned, self.tuned.before
        after = None
        if whole is not None:
            after = {"joules": whole.joules_after, "seconds": whole.seconds_after}
        return {
            "before": {"joules": tuned.joules, "seconds": tuned.seconds},
            "after": after,
            "candidates": [as_json(trial) for trial in tuned.trials],
            "patch": self.patch,
            "edits": [
                {"file": name, "start": edit.start_byte, "end": edit.end_byte, "text": edit.text}
                for name, edits in self.edits.items()
                for edit in sorted(edits)
            ],
            "meter": tuned.meter,
            "estimated": tuned.estimated,
            "machine": tuned.machine,
            "interrupted": tuned.interrupted,
            "seeded": tuned.seeded,
            "untouched": self.untouched,
        }


def tune(
    request: TuneRequest, progress: Progress, on_wait: Callable[[str], None] = lambda sentence: None
) -> TuneResult:
    """Find candidates and try them within the time; the project stays as it is."""
    script = request.script.resolve()
    if script.is_dir():
        raise MeasureProblem(f"{request.script} is a folder: name the script to tune.")
    if script.suffix not in (*PROGRAMS, SUFFIX):
        raise MeasureProblem(f"{request.script} is no Python script by its name: name the script to tune.")
    notebook = None
    if script.suffix == SUFFIX:
        notebook = TunedNotebook(script, script.relative_to(request.project.resolve()).as_posix())
    if notebook.is_empty if notebook is not None else is_empty(script):
        raise MeasureProblem(f"{request.script} does nothing: name the script to tune.")
    interpreter = find_interpreter(script.parent, request.project, request.python)
    sources = read_sources(request.project, script)
    found = find_all(sources)
    if notebook is not None:
        found = notebook.placed(found)
    packages = packages_of(interpreter.path, sorted({name for one in found for name in one.needs}))
    candidates = _asked_for(
        [one for one in found if not one.needs or not packages.there.isdisjoint(one.needs)], request
    )
    metered = MeteredProcess(request.meter, wait=request.wait, on_wait=on_wait)
    own = own_files(request.database, *request.own)
    shop = Workshop(request.project, script, interpreter.path, request.arguments, sources, own)
    with shop as workshop, metered:
        tuned = Tuning(workshop, metered, request.minutes * 60, request.tolerance, progress).run(candidates)
        (chosen, _), (equal, _) = together(tuned.chosen), together(tuned.equal)
        texts = {source.name: source.text for source in sources}
        files, applied = (_changed(texts, some, notebook) for some in (chosen, equal))
        lines = {one.where: _line(_text_of(one, texts, notebook), one.line) for one in candidates if one.file}
        if notebook is not None:
            chosen.pop(notebook.name, None)  # they are of the script that its cells were run as
        result = TuneResult(tuned, files, workshop.changed(), chosen, applied, lines)
    if request.database is not None:
        keep(result.tuned, result.lines, request.project, request.database, packages.tensorflow)
    return result


def _changed(
    texts: Mapping[str, bytes], edits: Mapping[str, Sequence[Edit]], notebook: TunedNotebook | None
) -> dict[str, tuple[bytes, bytes]]:
    """The files that some edits change, before and after."""
    found = {}
    for name, some in edits.items():
        if notebook is not None and name == notebook.name:
            found[name] = (notebook.data, notebook.edited(some))
        else:
            found[name] = (texts[name], edited(texts[name], some))
    return found


def _text_of(one: Candidate, texts: Mapping[str, bytes], notebook: TunedNotebook | None) -> bytes:
    return notebook.source(one.cell) if notebook is not None and one.cell else texts[one.file]


def _line(text: bytes, number: int) -> str:
    lines = text.decode("utf-8", "replace").splitlines()
    return lines[number - 1] if 0 < number <= len(lines) else ""


def _asked_for(found: Sequence[Candidate], request: TuneRequest) -> Sequence[Candidate]:
    """All candidates but those to leave out, or the one that was named."""
    known = ", ".join(sorted({one.name for one in found})) or "none"
    for name in request.skip:
        if all(one.name != name for one in found):
            raise MeasureProblem(f"{request.script} has no candidate {name} to skip; there is: {known}.")
    if not request.only:
        return [one for one in found if one.name not in request.skip]
    named = [one for one in found if one.name == request.only]
    if request.line:
        named = [part for one in named for part in (one.places or (one,)) if part.line == request.line]
    if not named:
        where = f"{request.script}:{request.line}" if request.line else str(request.script)
        raise MeasureProblem(f"{where} has no candidate {request.only}; there is: {known}.")
    return named


def as_json(trial: Trial) -> dict[str, Any]:
    """One candidate; joules only where they were confirmed."""
    candidate, result = trial.candidate, trial.comparison
    saved = interval = share = None
    if result is not None:
        saved = result.joules_before - result.joules_after
        share = saved / result.joules_before
        interval = {
            "low": (1 - result.high) * result.joules_before,
            "high": (1 - result.low) * result.joules_before,
        }
    return {
        "name": candidate.name,
        "title": candidate.title,
        "place": candidate.where or "environment",
        "file": candidate.file or None,
        "cell": candidate.cell or None,
        "line": candidate.line or None,
        "environment": dict(candidate.environment),
        "saved_joules": saved,
        "interval": interval,
        "share": share,
        "seconds": trial.seconds,
        "p": trial.p_value,
        "results": trial.results,
        "verdict": trial.verdict,
        "metrics": {"before": dict(trial.metrics[0]), "after": dict(trial.metrics[1])}
        if trial.metrics
        else None,
        "note": "; ".join(filter(None, (candidate.note, trial.note, _explored(trial)))),
    }


def _explored(trial: Trial) -> str:
    if not trial.ratios or trial.comparison is not None:
        return ""
    runs = "once" if len(trial.ratios) == 1 else f"{len(trial.ratios)} times"
    return f"explored {runs}, energy × {sum(trial.ratios) / len(trial.ratios):.2f}: no claim"


def _diff(name: str, before: bytes, after: bytes) -> str:
    one, other = (
        re.findall(r"[^\n]*\n|[^\n]+", text.decode("utf-8", "surrogateescape")) for text in (before, after)
    )
    lines = difflib.unified_diff(one, other, f"a/{name}", f"b/{name}")
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )
