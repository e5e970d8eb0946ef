"""Everything that a calibration says, from what its processes gave: coefficients of calls, layers, steps; intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from energy_data.model import Calibration, Coefficient
from energy_data.prediction.cost_model import (
    CPU,
    EDITION,
    EDITION_NAME,
    FIRST,
    FIRST_MODEL,
    PROCESS,
    CostModel,
    cost,
    outside,
)
from energy_data.prediction.layers import layer_cost
from energy_data.prediction.specs import ModelSpec, ModelUse
from energy_data.prediction.whole_models import ModelJob
from energy_measure.calibration.fitting import Pair, fitted, grouped, interval, left_out, lent, solve
from energy_measure.calibration.points import CalibrationPoint
from energy_measure.calibration.program_models import START
from energy_measure.calibration.reference_models import FEW, spec_of
from energy_measure.calibration.samples import CalibrationRuns, families, first_calls, samples_of

FEWEST_MODELS = 3
"""Models that a method must have been seen with."""
METHODS = ("fit", "evaluate", "predict")
SINGLE = ("train_on_batch", "call", "gradient", "update", "compiled", "applied")
"""Methods that take one step."""
ALIKE = {"evaluate": ("evaluate", "predict"), "predict": ("evaluate", "predict")}
"""Evaluating and predicting run the same graph forward: together they say more about their intervals."""


def assembled(
    calibration: Calibration,
    points: Sequence[CalibrationPoint],
    models: Sequence[Mapping[str, Any]],
    ran: CalibrationRuns,
) -> list[Coefficient]:
    """All coefficients of a calibration."""
    identity, watts = calibration.id, ran.watts
    groups = grouped(samples_of(points, ran))
    found = [
        Coefficient(identity, CPU, "", "", (watts,), 0.0, 0.0, 1),
        Coefficient(identity, EDITION_NAME, "", "", (float(EDITION),), 0.0, 0.0, 1),
    ]
    found += [fitted(group, identity, watts) for group in groups.values()]
    loans: dict[str, list[Pair]] = {}
    for (name, mode), family in families(groups).items():
        together = [sample for group in family.values() for sample in group]
        pairs = lent(family)
        # Relative errors of very different APIs are smallest for the cheap ones: put the figure in the middle of them.
        centre = float(np.median([measured / predicted for predicted, measured in pairs])) if pairs else 1.0
        pooled = fitted(together, identity, watts)
        found.append(replace(pooled, name=name, values=tuple(value * centre for value in pooled.values)))
        loans.setdefault(mode, []).extend((predicted * centre, measured) for predicted, measured in pairs)
    for mode in ("eager", "graph"):
        calls = [group for (name, its_mode), group in groups.items() if its_mode == mode and ":" not in name]
        if calls:
            found.append(interval(f"call:{mode}", left_out(calls), watts, identity))
            found.append(interval(f"family:{mode}", loans.get(mode, []), watts, identity))
    found += _first_calls(points, ran, identity)
    found += _first_model(models, ran, identity)
    return found + _whole_models(CostModel(calibration, found), models, ran)


def _first_calls(
    points: Sequence[CalibrationPoint], ran: CalibrationRuns, identity: str
) -> list[Coefficient]:
    """What the first eager call of an API in a process costs more than later ones: it loads what they find.

    In a calibration another API has often loaded a part of it, in a program seldom: of the processes the dearest counts.
    """
    more = first_calls(points, ran)
    dearest = {api: max(amounts) for api, amounts in more.items()}
    if not dearest:
        return []

    def made(mode: str, joules: float, count: int) -> Coefficient:
        return Coefficient(identity, FIRST, mode, "", (joules,), 0.0, 0.0, count)

    usual = float(np.median(list(dearest.values())))
    # Few runs each, and one that was interrupted looks dear: half of the way to what is usual, on the logarithm.
    expected = {api: math.sqrt(amount * usual) for api, amount in dearest.items()}
    found = [made("", usual, len(dearest))]
    found += [made(api, amount, len(more[api])) for api, amount in expected.items()]
    if ran.started:
        found.append(made(PROCESS, float(np.median(ran.started)) * 1e-9 * ran.watts, len(ran.started)))
    # A program's API is as a new one here: the interval is that of one predicted from the others.
    pairs = [(usual, amount) for amount in dearest.values()]
    return [*found, interval(FIRST, pairs, ran.watts, identity, bands=False)]


@dataclass(frozen=True, slots=True)
class MeasuredModel:
    """What one model cost with one method, in joules, and what its layers should."""

    method: str
    layers: float
    """Joules of the layers and the update, as the layers' own points say."""
    beside: tuple[float, ...]
    """What a step does beside them."""
    traced: tuple[float, float]
    step: float
    trace: float
    once: float
    epoch: float
    power: float


def _first_model(
    models: Sequence[Mapping[str, Any]], ran: CalibrationRuns, identity: str
) -> list[Coefficient]:
    """What the first method of a model costs more in a program than that of the same model after others."""
    first = ran.models.get(START)
    later = ran.models.get(models[0]["name"]) if models else None
    if first is None or later is None:
        return []
    joules = max(0.0, first["first"] - later["fit"]["first"]) * 1e-9 * ran.watts
    return [Coefficient(identity, FIRST, FIRST_MODEL, "", (joules,), 0.0, 0.0, 1)]


def _whole_models(
    layers: CostModel, models: Sequence[Mapping[str, Any]], ran: CalibrationRuns
) -> list[Coefficient]:
    """What a step, a call, an epoch and a trace cost beside the layers."""
    identity, watts = layers.calibration.id, ran.watts
    seen = [each for about in models for each in _seen(layers, about, ran)]
    found: list[Coefficient] = []
    wrong: dict[str, Residuals] = {}
    for method in (*METHODS, *SINGLE):
        group = [each for each in seen if each.method == method]
        if len(group) < FEWEST_MODELS:
            continue
        found += _method(method, group, identity, watts)
        wrong[method] = residuals(method, group, identity, watts)
    for method in wrong:
        alike = [wrong[each] for each in ALIKE.get(method, (method,)) if each in wrong]
        amounts = {
            method: [pair for each in alike for pair in each.steps],
            f"trace:{method}": [pair for each in alike for pair in each.traces],
        }
        if method in METHODS:
            amounts[f"once:{method}"] = [pair for each in alike for pair in each.setting_up]
        found += [interval(kind, pairs, watts, identity, bands=False) for kind, pairs in amounts.items()]
    return found


@dataclass(slots=True)
class Residuals:
    """What models cost beside what is predicted of them from the others."""

    steps: list[Pair] = field(default_factory=list)
    traces: list[Pair] = field(default_factory=list)
    setting_up: list[Pair] = field(default_factory=list)


def residuals(method: str, group: Sequence[MeasuredModel], identity: str, watts: float) -> Residuals:
    """Each model as predicted from the others."""
    found = Residuals()
    for place, each in enumerate(group):
        others = _method(method, [*group[:place], *group[place + 1 :]], identity, watts)
        known = {coefficient.name: coefficient for coefficient in others}
        # Beyond what the others move predictions are said to be so, and are wider.
        if not outside(known["step"], each.beside):
            predicted = known["scale"].values[0] * each.layers + cost(known["step"], each.beside)
            found.steps.append((predicted, each.step))
        found.traces.append((cost(known["trace"], each.traced), each.trace))
        if method in METHODS:
            found.setting_up.append((cost(known["once"], (1.0,)), max(each.once + each.epoch, 0.0)))
    return found


def _method(method: str, group: Sequence[MeasuredModel], identity: str, watts: float) -> list[Coefficient]:
    noise = [1e-4 * watts] * len(group)
    constant, scale, *each_byte = solve(
        [(e.layers, *e.beside) for e in group], [e.step for e in group], noise
    )
    tracing = solve([e.traced for e in group], [e.trace for e in group], noise)
    power = float(np.median([e.power for e in group]))
    once, epoch = (
        max(0.0, float(np.median(amounts))) for amounts in ([e.once for e in group], [e.epoch for e in group])
    )

    def made(name: str, values: tuple[float, ...], reach: tuple[float, ...] = ()) -> Coefficient:
        return Coefficient(
            identity, name, method, "model", values, 0.0, 0.0, len(group), reach=reach, watts=power
        )

    furthest = tuple(max(column) for column in zip(*(each.beside for each in group), strict=True))

    return [
        made("scale", (scale,)),
        made("step", (constant, *each_byte), furthest),
        made("trace", tracing),
        made("once", (once, epoch)),
    ]


def _seen(layers: CostModel, about: Mapping[str, Any], ran: CalibrationRuns) -> list[MeasuredModel]:
    row = ran.models.get(about["name"])
    if row is None:
        return []
    spec = spec_of(about)
    found = []
    for method in (*METHODS, *SINGLE):
        if method not in row:
            continue
        measured = measured_steps(row, method, about["steps"], ran.watts)
        try:
            joules = layers_of(layers, spec, method)
            job = _job(layers, spec, method)
            traced = job.traced(method)
        except KeyError:
            continue
        found.append(
            MeasuredModel(method, joules, job.beside(method), traced, *measured, row["busy"] * ran.watts)
        )
    return found


def measured_steps(
    row: Mapping[str, Any], method: str, steps: int, watts: float
) -> tuple[float, float, float, float]:
    """Joules of a step, of the first trace, of setting a call up, and of an epoch."""
    runs = row[method]
    if method in SINGLE:
        one = max(float(np.median(runs["runs"])), 1e3)
        return one * 1e-9 * watts, max(runs["first"] - one, 1e6) * 1e-9 * watts, 0.0, 0.0
    few, some = float(np.median(runs["few"])), float(np.median(runs["some"]))
    step = max((some - few) / (steps - FEW), 1e3)
    epoch = (float(np.median(runs["epochs"])) - few) / 2 - FEW * step if runs["epochs"] else 0.0
    once = few - FEW * step - max(epoch, 0.0)
    trace = max(runs["first"] - few, 1e6)
    return step * 1e-9 * watts, trace * 1e-9 * watts, once * 1e-9 * watts, max(epoch, 0.0) * 1e-9 * watts


def layers_of(layers: CostModel, spec: ModelSpec, method: str) -> float:
    """Joules of a step's layers and update, before any scale."""
    found, update, _ = _job(layers, spec, method).parts(method)
    return sum(found) + update


def _job(layers: CostModel, spec: ModelSpec, method: str) -> ModelJob:
    return ModelJob(layers, spec, [layer_cost(layer) for layer in spec.layers], ModelUse(method, 1))  # type: ignore[arg-type]
