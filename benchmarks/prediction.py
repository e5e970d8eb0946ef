"""How good are predictions? Single calls, whole models, FECoM's sizes. CPU time decides, so that other load matters less.

python benchmarks/prediction.py all [data_size.csv]  # all of the following, on a calibration of its own: some 13 minutes
python benchmarks/prediction.py forms RAW …          # forms of the cost model, on what calibration processes wrote
python benchmarks/prediction.py models ENERGY.db     # `fit` and the like of 24 models that no calibration has seen
python benchmarks/prediction.py programs ENERGY.db [NAME …]  # programs, predicted and then measured: 5 minutes for all
python benchmarks/prediction.py fecom data_size.csv  # the three largest sizes from the others
python benchmarks/prediction.py speed ENERGY.db      # how long an answer takes
"""

from __future__ import annotations

import csv
import json
import math
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from energy_data.database.calibrations import calibrations, cost_model
from energy_data.database.database import Database
from energy_data.prediction.cost_model import cost
from energy_data.prediction.specs import CallSpec, ModelUse, Tensor
from energy_data.prediction.whole_models import predict_job
from energy_measure.calibration.assembly import METHODS, measured_steps
from energy_measure.calibration.fitting import FitSample, ends, fitted, grouped, solve
from energy_measure.calibration.points import all_points
from energy_measure.calibration.reference_models import spec_of
from energy_measure.calibration.samples import CalibrationRuns, samples_of
from energy_measure.calibration.session import PROGRAM, calibrate
from energy_measure.program.interpreters import Interpreter
from record import Results
from subjects.held_out_models import HELD_OUT
from subjects.programs_compared import PROGRAMS, compared, figures

Form = Callable[[Sequence[FitSample], FitSample], float]
SMALLEST = 20e-6
"""CPU seconds below which an error says nothing."""


def constant(known: Sequence[FitSample], new: FitSample) -> float:
    return float(np.median([sample.joules for sample in known]))


def linear(known: Sequence[FitSample], new: FitSample) -> float:
    values = solve(
        [sample.features[:1] for sample in known], [s.joules for s in known], [s.noise for s in known]
    )
    return values[0] + values[1] * new.features[0]


def least_squares(known: Sequence[FitSample], new: FitSample) -> float:
    return cost(fitted(known), new.features)


def roofline(known: Sequence[FitSample], new: FitSample) -> float:
    """Dispatch, and the longer of moving bytes and working."""
    floor = min(sample.joules for sample in known)
    rates = []
    for place in range(len(new.features)):
        above = [(max(s.joules - floor, 0.0) / s.features[place]) for s in known if s.features[place] > 0]
        rates.append(float(np.median(above)) if above else 0.0)
    return floor + max(rate * value for rate, value in zip(rates, new.features, strict=True))


def monotone(known: Sequence[FitSample], new: FitSample) -> float:
    """Straight lines between the points on logarithmic axes, never falling, flat beyond the smallest."""
    ordered = sorted(known, key=lambda sample: sum(sample.features))
    sizes = np.log([max(sum(sample.features), 1.0) for sample in ordered])
    costs = np.maximum.accumulate(np.log([sample.joules for sample in ordered]))
    at = math.log(max(sum(new.features), 1.0))
    if at > sizes[-1] and len(sizes) > 1 and sizes[-1] > sizes[-2]:
        slope = (costs[-1] - costs[-2]) / (sizes[-1] - sizes[-2])
        return float(math.exp(costs[-1] + min(slope, 1.0) * (at - sizes[-1])))
    return float(math.exp(np.interp(at, sizes, costs)))


FORMS: dict[str, Form] = {
    "constant": constant,
    "linear in bytes": linear,
    "least squares": least_squares,
    "roofline": roofline,
    "monotone": monotone,
}


def forms(paths: Sequence[str]) -> list[dict[str, Any]]:
    """Errors of each form for sizes in the middle, the largest size, and other shapes."""
    ran = CalibrationRuns()
    for path in paths:
        ran.read(Path(path))
    found = []
    for mode in ("eager", "graph"):
        groups = [
            g
            for (name, its), g in grouped(samples_of(all_points(), ran)).items()
            if its == mode and ":" not in name
        ]
        for name, form in FORMS.items():
            errors: dict[str, list[float]] = defaultdict(list)
            for group in groups:
                for place, sample in enumerate(group):
                    if len(group) < 4 or sample.joules < SMALLEST:
                        continue
                    others = [*group[:place], *group[place + 1 :]]
                    error = abs(form(others, sample) / sample.joules - 1)
                    errors[_place(group, place)].append(error)
            for what, values in errors.items():
                middle, most = np.percentile(values, [50, 90])
                found.append(
                    _value(
                        f"{mode}, {name}, {what}, median error",
                        float(middle),
                        points=len(values),
                        p90=float(most),
                    )
                )
        found += _coverage(mode, groups)
    return [_value("repeatability", ran.repeatability, goal=0.10), *found]


def _place(group: Sequence[FitSample], place: int) -> str:
    sizes = [sum(sample.features) for sample in group]
    if sizes[place] == max(sizes):
        return "largest"
    return "other shapes" if place >= 3 else "sizes between"


def _coverage(mode: str, groups: Sequence[Sequence[FitSample]]) -> list[dict[str, Any]]:
    """Intervals made from half of the APIs, tried on the other half."""
    from energy_measure.calibration.fitting import left_out

    halves = [groups[::2], groups[1::2]]
    held = count = 0
    for known, new in (halves, halves[::-1]):
        low, high = ends([math.log(measured / predicted) for predicted, measured in left_out(known)])
        for predicted, measured in left_out(new):
            held += low <= math.log(measured / predicted) <= high
            count += 1
    return [_value(f"{mode}, 90% intervals hold", held / max(count, 1), goal="0.85 to 0.95", points=count)]


def models(path: str) -> list[dict[str, Any]]:
    """Run the held-out models and compare with what the calibration in a database says."""
    with Database.read(Path(path)) as database:
        costs = cost_model(database.connection, calibrations(database.connection)[0])
    ran = _run([{**about, "id": about["name"]} for about in HELD_OUT])
    found = []
    errors: dict[str, list[float]] = defaultdict(list)
    held: list[bool] = []
    held_later: list[bool] = []
    for about in HELD_OUT:
        row = ran.models.get(about["name"])
        if row is None:
            continue
        for method in METHODS:
            step, trace, once, epoch = measured_steps(row, method, about["steps"], costs.watts)
            predicted = predict_job(costs, spec_of(about), ModelUse(method, about["steps"]))  # type: ignore[arg-type]
            if predicted is None:
                found.append(_value(f"{method}, {about['name']}: no prediction", 1.0))
                continue
            whole = trace + once + epoch + step * about["steps"]
            errors[method].append(abs(predicted.step_joules / step - 1))
            errors[f"{method}, first call"].append(abs(predicted.joules / whole - 1))
            held.append(predicted.low <= whole <= predicted.high)
            later = predict_job(costs, spec_of(about), ModelUse(method, about["steps"], first=False))  # type: ignore[arg-type]
            if later is not None:
                held_later.append(later.low <= whole - trace <= later.high)
            found.append(
                _value(f"{method}, {about['name']}, step predicted / measured", predicted.step_joules / step)
            )
    for what, values in errors.items():
        goal = 0.15 if what == "fit" else None
        found.append(_value(f"{what}, median error", float(np.median(values)), goal=goal, points=len(values)))
        found.append(_value(f"{what}, worst error", float(max(values)), goal=0.40 if what == "fit" else None))
    found.append(
        _value(
            "90% intervals of whole calls hold", float(np.mean(held)), goal="0.85 to 0.95", points=len(held)
        )
    )
    found.append(
        _value(
            "90% intervals of later calls hold",
            float(np.mean(held_later)),
            goal="0.85 to 0.95",
            points=len(held_later),
        )
    )
    return found


def _run(asked: list[dict[str, Any]]) -> CalibrationRuns:
    ran = CalibrationRuns()
    with tempfile.TemporaryDirectory() as folder:
        request, results = Path(folder) / "models.json", Path(folder) / "models.jsonl"
        request.write_text(json.dumps({"points": [], "models": asked, "seconds": 0, "rounds": 0}))
        subprocess.run(
            [sys.executable, str(PROGRAM), str(request), str(results)], check=True, stdout=subprocess.DEVNULL
        )
        ran.read(results)
    for line in ran.failed:
        print(line, file=sys.stderr)
    return ran


Line = Callable[[float], float]


def relative_line(sizes: Sequence[float], joules: Sequence[float]) -> Line:
    """Dispatch and bytes, as a calibration fits them: errors count in relation to what was measured."""
    constant, each = solve([(size,) for size in sizes], joules, [1e-3] * len(sizes))
    return lambda size: constant + each * size


def straight_line(sizes: Sequence[float], joules: Sequence[float]) -> Line:
    """The same with errors in joules: what the largest sizes cost counts most."""
    each, constant = np.polyfit(sizes, joules, 1)
    return lambda size: float(constant + each * size)


def line_error(fit: Callable[..., Line], sizes: Sequence[float], joules: Sequence[float], last: int) -> float:
    """Mean error for the last sizes, predicted from those before."""
    line = fit(sizes[:-last], joules[:-last])
    pairs = zip(sizes[-last:], joules[-last:], strict=True)
    return float(np.mean([abs(line(size) / measured - 1) for size, measured in pairs]))


def chosen_line(sizes: Sequence[float], joules: Sequence[float]) -> Callable[..., Line]:
    """The form that predicts the last one, two and three of the known sizes best from those before them."""
    return min(
        LINES,
        key=lambda fit: sum(line_error(fit, sizes, joules, last) for last in (1, 2, 3)),
    )


LINES = (relative_line, straight_line)


def fecom(path: str) -> list[dict[str, Any]]:
    """FECoM's records of energy against size: fitted on all but the three largest sizes, tried on those.

    Which errors a line is fitted on is decided by the known sizes of each method alone.
    """
    by_method: dict[str, dict[float, list[float]]] = defaultdict(lambda: defaultdict(list))
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            joules = sum(float(row[name]) for name in ("cpu_j", "ram_j", "gpu_j"))
            by_method[row["method"]][round(float(row["input_bytes"]), -3)].append(joules)
    found, everything = [], []
    for method, sizes in by_method.items():
        ordered = sorted(sizes)
        means = {size: float(np.mean(sizes[size])) for size in ordered}
        known, new = ordered[:-3], ordered[-3:]
        joules = [means[size] for size in ordered]
        form = chosen_line(known, joules[: len(known)])
        errors = {fit.__name__: line_error(fit, ordered, joules, len(new)) for fit in LINES}
        grows = means[ordered[-1]] > 2 * means[ordered[0]]
        if grows:
            everything.append({**errors, "chosen": errors[form.__name__]})
        found.append(
            _value(
                f"{method}, mean error of the largest three",
                errors[form.__name__],
                form=form.__name__,
                effect_of_size=grows,
            )
        )
    for name in ("chosen", *(fit.__name__ for fit in LINES)):
        mean = float(np.mean([each[name] for each in everything]))
        goal = 0.071 if name == "chosen" else None
        found.append(_value(f"mean error over methods with an effect of size, {name}", mean, goal=goal))
    return found


def everything(given: Sequence[str]) -> None:
    """A calibration of its own, and all that can be said about it."""
    with tempfile.TemporaryDirectory() as folder:
        database, raw = Path(folder) / "energy.db", Path(folder) / "raw"
        raw.mkdir()
        python = Interpreter(Path(sys.executable), sys.version_info[:3], has_tensorflow=True, has_keras=True)
        began = time.monotonic()
        result = calibrate(python, database=database, keep=raw)
        took = time.monotonic() - began
        repeats = _value("repeatability", result.calibration.repeatability, goal=0.10)
        keep("calibration", [_value("calibrating, seconds", took, goal=300.0), repeats])
        keep("forms", forms([str(path) for path in sorted(raw.glob("part-*.jsonl"))]))
        keep("speed", speed(str(database)))
        keep("models", models(str(database)))
        keep("programs", programs(str(database)))
    if given:
        keep("fecom", fecom(given[0]))


def programs(path: str, *named: str) -> list[dict[str, Any]]:
    """Predict programs, then measure them: all, or those that are named."""
    with Database.read(Path(path)) as database:
        watts = cost_model(database.connection, calibrations(database.connection)[0]).watts
    chosen = [file for file in sorted(PROGRAMS.rglob("*.py")) if not named or file.stem in named]
    return figures(compared(Path(path), watts, chosen))


def speed(path: str) -> list[dict[str, Any]]:
    """Time of an answer about a call, and about a model of 60 layers."""
    with Database.read(Path(path)) as database:
        costs = cost_model(database.connection, calibrations(database.connection)[0])
    spec = CallSpec("tensorflow.linalg.matmul", (Tensor("float32", (512, 512)),) * 2)
    deep = {**HELD_OUT[1], "layers": [*HELD_OUT[1]["layers"][:1] * 60, HELD_OUT[1]["layers"][-1]]}
    model = spec_of(deep)
    return [
        _value("a call, seconds", _seconds(lambda: costs.call(spec), 5000), goal=50e-6),
        _value(
            "a model of 60 layers, seconds",
            _seconds(lambda: predict_job(costs, model, ModelUse("fit", 10)), 200),
            goal=1e-3,
        ),
    ]


def _seconds(call: Callable[[], object], times: int) -> float:
    began = time.process_time()
    for _ in range(times):
        call()
    return (time.process_time() - began) / times


def _value(name: str, value: float, goal: object = None, **more: object) -> dict[str, Any]:
    return {"name": name, "value": value, "goal": goal, **more}


PARTS: dict[str, Callable[[list[str]], Sequence[dict[str, Any]]]] = {
    "forms": lambda paths: forms(paths),
    "models": lambda paths: models(paths[0]),
    "fecom": lambda paths: fecom(paths[0]),
    "speed": lambda paths: speed(paths[0]),
    "programs": lambda paths: programs(*paths),
}


def main() -> None:
    what, *given = sys.argv[1:] or ["all"]
    if what == "all":
        everything(given)
    elif what in PARTS and given:
        keep(what, PARTS[what](given))
    else:
        sys.exit(__doc__)


TITLES = {
    "calibration": "Calibrating this machine",
    "fecom": "FECoM's largest sizes from its smaller ones",
    "forms": "Forms of the cost model, by mode and by which points are left out",
    "models": "Calls of 24 models outside of the calibration",
    "programs": "Whole programs outside of the calibration, predicted and then measured",
    "speed": "How long a prediction takes",
}


def keep(what: str, found: Sequence[dict[str, Any]]) -> None:
    """Print figures, and keep them; single points of a comparison only in the file."""
    results = Results("prediction", topic="Prediction", title=TITLES[what], part=what)
    for one in found:
        goal = one["goal"]
        low, _, high = goal.partition(" to ") if isinstance(goal, str) else (None, "", goal)
        rest = {name: value for name, value in one.items() if name not in ("name", "value", "goal")}
        scale, unit = (1, "s") if "seconds" in one["name"] else (100, "%")
        results.add(
            one["name"].replace(", seconds", ""),
            scale * one["value"],
            unit,
            at_least=None if low is None else scale * float(low),
            at_most=None if high is None else scale * float(high),
            note=", ".join(f"{name} {_short(value)}" for name, value in rest.items()),
            detail=goal is None and (what == "forms" or "predicted / measured" in one["name"]),
        )
        print(f"{one['name']}: {one['value']:.4g}" + (f" (goal {goal})" if goal is not None else ""))
    results.write()


def _short(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
