"""Writes a measured run as one page: phases, power over time, the calls under it, energy by call, history.

The page carries its data, styles and scripts (uPlot draws), allows nothing else by its content-security
policy, and is the same in a browser and in an editor's webview.
"""

from __future__ import annotations

import html
import json
import secrets
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import PurePath
from string import Template
from typing import Any

from energy_data.model import DEVICES, CallSpan, Inside, Measurement, Part, Phase, Quantity, Run, Trace
from energy_data.project_places import place_of
from energy_lsp.presentation.words.runs import ending
from energy_lsp.report.footprint import Footprint
from energy_lsp.report.inside import inside_data
from energy_lsp.runs.history import Moment, total

SCRIPTS = ("common.js", "timeline.js", "page.js")
MOST_DETAIL = 5
"""Parts that are named of a phase."""
NOT_SET = Footprint()
MOST_POINTS = 4000
"""Points of a power curve that a page carries; more would only be drawn on top of each other."""


def render(
    run: Run,
    measurements: Sequence[Measurement],
    traces: Sequence[Trace] = (),
    spans: Sequence[CallSpan] = (),
    parts: Sequence[Part] = (),
    inside: Inside | None = None,
    *,
    phases: Sequence[Phase] = (),
    history: Sequence[Moment] = (),
    footprint: Footprint = NOT_SET,
    links: bool = False,
) -> str:
    """The page as HTML; with `links` it knows where the project lies, and places lead into the editor."""
    assets = files(__package__) / "assets"
    nonce = secrets.token_urlsafe(16)
    data = {
        "run": _run(run),
        "calls": _calls(measurements),
        "traces": [_thinned(trace) for trace in traces],
        "inside": inside_data(parts, inside, measurements),
        "phases": [_phase(phase) for phase in sorted(phases, key=lambda phase: -phase.joules)],
        "history": [
            [moment.run.started, moment.run.commit[:10], moment.joules, moment.run.id == run.id]
            for moment in history
        ],
        "footprint": footprint.sentences(total(run) or 0.0),
        "project": str(folder) if links and (folder := place_of(run)) else None,
        "spans": [[span.api, span.file, span.line, span.thread, span.start, span.end] for span in spans],
    }
    return Template((assets / "page.html").read_text("utf-8")).substitute(
        nonce=nonce,
        title=html.escape(f"Energy of {_short(run.command)}"),
        command=html.escape(run.command),
        heading=html.escape(_short(run.command)),
        subtitle=html.escape(_subtitle(run)),
        ending=_ending(run),
        style=(assets / "uPlot.min.css").read_text("utf-8") + (assets / "page.css").read_text("utf-8"),
        library=(assets / "uPlot.iife.min.js").read_text("utf-8"),
        script="\n".join((assets / name).read_text("utf-8") for name in SCRIPTS),
        inside=(assets / "inside.js").read_text("utf-8"),
        # Inside a script element only "<" could end it or open a comment.
        data=json.dumps(data, ensure_ascii=False).replace("<", "\\u003c"),
    )


def _short(command: str) -> str:
    """The command with the names of files instead of whole paths; the page has the whole one beside it."""
    return " ".join(PurePath(word).name if PurePath(word).is_absolute() else word for word in command.split())


def _subtitle(run: Run) -> str:
    how = "estimated" if run.estimated else "measured"
    stable = {
        True: "the machine was calm",
        False: "the machine was busy: figures may be off",
        None: "nobody looked whether the machine was calm",
    }[run.stable]
    parts = [f"{how} with {run.meter}", run.machine.label, f"TensorFlow {run.environment.tensorflow}"]
    parts += [stable, run.started.replace("T", " ")[:16] + " UTC"]
    if run.commit:
        parts.append(f"commit {run.commit[:10]}")
    return " · ".join(parts)


def _ending(run: Run) -> str:
    text = ending(run)
    return f'<p class="ending" role="alert">{html.escape(text)}</p>' if text else ""


def _phase(phase: Phase) -> list[Any]:
    most = sorted(phase.detail.items(), key=lambda item: -item[1])[:MOST_DETAIL]
    return [phase.name, phase.joules, phase.seconds, [[name, value] for name, value in most if value > 0]]


def _run(run: Run) -> dict[str, Any]:
    return {
        "seconds": run.seconds,
        "estimated": run.estimated,
        "joules": {device: run.joules[device].value for device in DEVICES if device in run.joules},
        "total": total(run),
        "unaccounted": run.unaccounted_joules,
    }


def _calls(measurements: Sequence[Measurement]) -> list[dict[str, Any]]:
    return sorted((_call(found) for found in measurements), key=lambda call: -(call["joules"] or 0.0))


def _call(found: Measurement) -> dict[str, Any]:
    """A call over all of a run: as often as it ran, the first time with what only the first time costs."""
    each = _total(found.joules)
    first = 0.0 if found.first_joules is None else max(found.first_joules, 0.0) - each
    first_seconds = 0.0 if found.first_seconds is None else found.first_seconds - found.seconds

    def of_run(per_call: float | None) -> float | None:
        return None if per_call is None else per_call * found.count + first

    return {
        "api": found.api,
        "file": found.file,
        "line": found.line,
        "count": found.count,
        "seconds": found.seconds * found.count + first_seconds,
        "joules": of_run(each) if found.resolved else None,
        "exclusive": of_run(found.exclusive_joules),
        "low": of_run(found.low),
        "high": of_run(found.high),
        "covers": found.covers or ("sampling" if found.repeats == 1 else "sampling and runs"),
        "method": found.method,
        "traced": found.at_trace_time,
    }


def _total(joules: Mapping[Any, Quantity]) -> float:
    return sum(quantity.value for quantity in joules.values())


def _thinned(trace: Trace) -> dict[str, Any]:
    """The curve with no more points than a screen can tell apart, keeping each stretch's peak."""
    step = max(1, -(-len(trace.seconds) // MOST_POINTS))
    seconds: list[float] = []
    watts: list[float] = []
    for start in range(0, len(trace.seconds), step):
        stretch = trace.watts[start : start + step]
        peak = start + max(range(len(stretch)), key=stretch.__getitem__)
        seconds.append(trace.seconds[peak])
        watts.append(trace.watts[peak])
    return {"device": trace.device, "seconds": seconds, "watts": watts}
