"""`make demo`: the story of one program in one screen; everything longer is in the report that it writes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from energy_lsp.presentation.notation.units import bar, column_unit, duration, in_unit, joules, whole
from energy_lsp.terminal.console import Screen

ROOT = Path(__file__).resolve().parents[1]
FOLDER = Path(".cache/demo")
DATABASE = FOLDER / "energy.db"
MACHINE = FOLDER / "machine.db"
"""The calibration alone: what is predicted from it knows no run, also when the demo is told again."""
PROGRAM = "examples/classifier.py"
RULE = "predict-loop"
"""What is proven: `check` suggests it at the loop of the program."""
PATIENCE = "6"
"""Minutes that the proof may take on a busy machine; a quiet one takes one."""


class Story:
    """What is told, numbered, and what is going on meanwhile."""

    def __init__(self) -> None:
        self.screen = Screen()
        self.number = 0
        self.began = time.monotonic()

    def part(self, title: str) -> None:
        """The next part."""
        self.number += 1
        self.screen.line()
        self.screen.say(f"{self.number}  {title}", style="bold")

    def say(self, text: str) -> None:
        """A line of a part."""
        self.screen.say(f"   {text}", indent="   ")


def run(what: str, *arguments: str) -> str:
    """The output of a command; what it says beside goes into a log. Fails with the end of that log."""
    if sys.stderr.isatty():
        print(f"\r… {what:48}", end="", file=sys.stderr, flush=True)
    command = [sys.executable, "-m", "energy_lsp", *arguments]
    with (FOLDER / "log.txt").open("a", encoding="utf-8") as log:
        log.write(f"\n$ energy-lsp {' '.join(arguments)}\n")
        log.flush()
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=log, text=True, check=False)
    if sys.stderr.isatty():
        print(f"\r{'':50}\r", end="", file=sys.stderr, flush=True)
    if done.returncode not in (0, 1):
        tail = "\n".join((FOLDER / "log.txt").read_text("utf-8").splitlines()[-8:])
        sys.exit(f"energy-lsp {arguments[0]} could not be run:\n{tail}")
    return done.stdout


def foretold() -> dict[str, Any]:
    """What `predict` says of the program."""
    found: dict[str, Any] = json.loads(
        run("reading the program", "predict", PROGRAM, "--format", "json", "--db", str(MACHINE))
    )
    return found


def calibrated() -> None:
    """Learn this machine, once."""
    if foretold()["calibration"] is None:
        run("learning this machine, about a minute, once", "calibrate", "--quick", "--db", str(MACHINE))


def predicted(story: Story) -> None:
    """What is expected before anything runs."""
    story.part("Predicted, before anything runs")
    found = foretold()
    if found["calibration"] is None:
        story.say("This machine is not calibrated: `energy-lsp calibrate --quick` learns it in a minute.")
        return
    sure = [call for call in found["calls"] if call["origin"] == "predicted"]
    sure.sort(key=lambda call: -(call["total_joules"] or 0.0))
    total = sum(call["total_joules"] or 0.0 for call in sure)
    if not sure:
        story.say("Nothing: the machine was too busy to be learned. `energy-lsp calibrate`, on a quiet one.")
        return
    best = ", ".join(f"{short(call)} ≈ {joules(call['total_joules'])}" for call in sure[:3])
    story.say(f"≈ {joules(total)} for {len(sure)} of its calls, from shapes in the source: {best}.")


def short(call: dict[str, Any]) -> str:
    """`fit (line 46)`."""
    return f"{call['api'].rpartition('.')[2]} (line {call['line']})"


def measured(story: Story, program: dict[str, Any], found: dict[str, Any]) -> None:
    """What it took, and by what that is known."""
    story.part("Measured")
    total = program["joules"]
    mark = "≈ " if found["estimated"] else ""
    how = "estimated from CPU time, as no sensor can be read here" if found["estimated"] else found["meter"]
    story.say(f"{mark}{whole(total)} above idle in {duration(program['seconds'])}, one run; {how}.")
    calls = [call for call in found["calls"] if call["total_joules"] is not None]
    calls.sort(key=lambda call: -call["total_joules"])
    unit = column_unit(call["total_joules"] for call in calls[:3])
    for call in calls[:3]:
        share = call["total_joules"] / total
        name = short(call) + (f", {call['times']} times" if call["times"] > 1 else "")
        story.say(
            f"{name:28} {mark}{in_unit(call['total_joules'], unit):>7} {unit}  {share:4.0%}  {bar(share)}"
        )


def phases(story: Story, program: dict[str, Any]) -> None:
    """Where it went."""
    story.part("Where it went")
    total = program["joules"]
    unit = column_unit(phase["joules"] for phase in program["phases"])
    for phase in sorted(program["phases"], key=lambda one: -one["joules"])[:5]:
        share = max(phase["joules"], 0.0) / total
        if share < 0.005:
            continue
        most = sorted(phase["detail"].items(), key=lambda item: -item[1])[:1]
        named = ", ".join(f"{name.rpartition('.')[2][:24]} {joules(value)}" for name, value in most)
        story.say(
            f"{phase['name']:12} {in_unit(phase['joules'], unit):>7} {unit}  {share:4.0%}  {bar(share)}  {named}"
        )


def inside(story: Story, found: dict[str, Any]) -> None:
    """What `fit` is made of."""
    fit = [part for part in found["inside"] if part["call"] and _is_fit(part, found)]
    story.part("Inside `fit`: layers, apportioned among operations")
    layers: dict[str, float] = {}
    total = sum(part["joules"] for part in fit)
    for part in fit:
        name = part["path"].rpartition("/")[2] + (f" (line {part['line']})" if part["line"] else "")
        layers[name] = layers.get(name, 0.0) + part["joules"]
    if total <= 0:
        story.say("Nothing could be seen inside of it in this run; the report says why.")
    unit = column_unit(layers.values())
    for name, energy in sorted(layers.items(), key=lambda item: -item[1])[:4]:
        story.say(f"{name:32} {in_unit(energy, unit):>7} {unit}  {energy / total:4.0%} of fit")


def _is_fit(part: dict[str, Any], found: dict[str, Any]) -> bool:
    place = part["call"]
    return any(
        call["api"].endswith(".fit") and (call["file"], call["line"]) == (place["file"], place["line"])
        for call in found["calls"]
    )


def proven(story: Story) -> int:
    """One fix, tried in the program itself; how many more there are to look at."""
    checked = json.loads(run("checking the source", "check", PROGRAM, "--format", "json", "--exit-zero"))
    place = next(one for one in checked if one["rule"] == RULE)
    trial = ("tune", PROGRAM, "--only", RULE, "--line", str(place["line"]), "--budget", PATIENCE)
    tuned = json.loads(run("proving a fix in the program, 1 to 2 minutes", *trial, "--format", "json"))
    found = next((one for one in tuned["candidates"] if one["name"] == RULE), None)
    story.part(f"One fix, {'tried' if tuned['after'] is None else 'proven'} in this program")
    what = place["message"]
    story.say(f"Line {place['line']}: {what[max(0, what.find('`')) :].split(' (−')[0]}.")
    mark = "≈ " if tuned["estimated"] else ""
    before, after = tuned["before"], tuned["after"]
    if after is not None:
        saved = 1 - after["joules"] / before["joules"]
        story.say(
            f"{mark}{joules(before['joules'])} → {mark}{joules(after['joules'])} a run (−{saved:.0%}), "
            f"{duration(before['seconds'])} → {duration(after['seconds'])}, same output; "
            "runs before and after took turns."
        )
    else:
        verdict = (
            f"{found['verdict']}{', ' + found['note'] if found['note'] else ''}" if found else "not tried"
        )
        story.say(f"{mark}{joules(before['joules'])} a run; not proven here: {verdict}.")
    return sum(one["fix"] != "none" and one["rule"] != RULE for one in checked)


def main() -> int:
    """Tell the story."""
    os.chdir(ROOT)
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "log.txt").write_text("", "utf-8")
    os.environ["ENERGY_LSP_DB"] = str(DATABASE)
    story = Story()
    if os.environ.get("CALIBRATE") != "no":
        calibrated()
    story.screen.say(f"energy-lsp on {PROGRAM}", style="bold")
    predicted(story)
    found = json.loads(
        run("measuring", "measure", PROGRAM, "--quick", "--format", "json", "--progress", "none")
    )
    program = found["program"]
    measured(story, program, found)
    phases(story, program)
    inside(story, found)
    others = proven(story)
    page = FOLDER / "report.html"
    run("writing the report", "report", "latest", "--html", str(page), "--links")
    story.part("Where to look next")
    story.say(f"{page}: all of it, to zoom, sort and follow over runs.")
    story.say(f"energy-lsp check {PROGRAM}: figures and {others} more fixes.")
    story.say("energy-lsp tune PROGRAM.py: tries what may save, proves what does.")
    story.say("docs/how-to/editors.md: the same in your editor, while you type.")
    story.say(f"{time.monotonic() - story.began:.0f} s; what was said meanwhile: {FOLDER / 'log.txt'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
