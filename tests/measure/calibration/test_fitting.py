"""The fit finds what costs were made from, and its intervals hold what they say."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest

from energy_data.model import Calibration, Coefficient, Environment
from energy_data.prediction.cost_model import CPU, CostModel
from energy_data.prediction.layers import layer_cost
from energy_data.prediction.specs import CallSpec, LayerSpec, ModelSpec, ModelUse, Tensor
from energy_data.prediction.whole_models import ModelJob, predict_job
from energy_lsp.predicting.calibration_text import calibration_lines
from energy_measure.calibration import program
from energy_measure.calibration.assembly import MeasuredModel, residuals
from energy_measure.calibration.fitting import FitSample, ends, fitted, interval, left_out
from energy_measure.calibration.points import CalibrationPoint, all_points, parts
from energy_measure.calibration.samples import CalibrationRuns

WATTS = 2.0


def calibration(**more):
    environment = Environment("3.11", "2.21.0", "3.15.1", backend="tensorflow", device="cpu")
    return Calibration(
        "c", "m", "machine", environment, "cpu-time", True, "2026-11-18T00:00:00", False, 0.03, **more
    )


def samples(count, noise, seed=1):
    chosen = random.Random(seed)
    found = []
    for _ in range(count):
        size = 10 ** chosen.uniform(3, 7.5)
        work = 10 ** chosen.uniform(3, 8)
        joules = (5e-5 + 4e-10 * size + 1e-10 * work) * math.exp(chosen.gauss(0, noise))
        found.append(FitSample("tensorflow.linalg.matmul", "eager", "matmul", (size, work), joules, 1e-6))
    return found


def test_exact_costs_give_back_what_they_were_made_from():
    found = fitted(samples(12, 0.0), watts=WATTS)
    assert found.values == pytest.approx((5e-5, 4e-10, 1e-10), rel=1e-6)
    assert found.points == 12
    assert found.reach == (
        max(s.features[0] for s in samples(12, 0.0)),
        max(s.features[1] for s in samples(12, 0.0)),
    )


def test_no_cost_is_ever_negative():
    falling = [
        FitSample("a", "eager", "copy", (float(size), 0.0), 1e-3 / size, 1e-9) for size in (1, 10, 100)
    ]
    assert min(fitted(falling).values) >= 0.0


def test_nine_of_ten_new_runs_lie_in_the_interval():
    spread = interval("call:eager", left_out([samples(300, 0.3)]), 1.0, bands=False)
    low, high = spread.values
    known = fitted(samples(300, 0.3))
    new = samples(2000, 0.3, seed=9)
    held = 0
    for sample in new:
        ratio = math.log(
            sample.joules
            / (known.values[0] + known.values[1] * sample.features[0] + known.values[2] * sample.features[1])
        )
        held += low <= ratio <= high
    assert 0.85 <= held / len(new) <= 0.95


def test_few_runs_do_not_claim_more_than_they_show():
    low, high = ends([-0.1, 0.0, 0.2])
    assert low < -0.1
    assert high > 0.2
    assert ends([]) == pytest.approx((-math.log(4), math.log(4)))


def model():
    known = [
        Coefficient("c", CPU, "", "", (WATTS,), 0, 0, 1),
        Coefficient(
            "c", "tensorflow.math.exp", "eager", "elementwise", (1e-4, 1e-9, 0.0), 0, 1, 3, (1e7, 0.0), 3.0
        ),
        Coefficient("c", "interval", "call:eager", "", (-0.5,) * 4 + (0.7,) * 4, 0, 0, 100),
    ]
    return CostModel(calibration(), known)


def test_a_call_costs_its_dispatch_and_its_features():
    found = model().call(CallSpec("tensorflow.math.exp", (Tensor("float32", (1000, 1000)),)))
    assert found is not None
    assert found.joules == pytest.approx(1e-4 + 8e6 * 1e-9)
    assert found.low == pytest.approx(found.joules * math.exp(-0.5))
    assert found.high == pytest.approx(found.joules * math.exp(0.7))
    assert found.seconds == pytest.approx(found.joules / 3.0)
    assert not found.outside
    assert not found.negligible


def test_beyond_the_calibrated_sizes_it_says_so_and_is_wider():
    near = model().call(CallSpec("tensorflow.math.exp", (Tensor("float32", (1000, 1000)),)))
    far = model().call(CallSpec("tensorflow.math.exp", (Tensor("float32", (10_000, 1000)),)))
    assert far.outside
    assert far.high / far.joules > near.high / near.joules


def test_the_smallest_calls_have_no_digits():
    assert model().call(CallSpec("tensorflow.math.exp", (Tensor("float32", (2,)),))).negligible


def test_what_was_not_calibrated_has_no_figure():
    assert model().call(CallSpec("tensorflow.math.log", (Tensor("float32", (2,)),))) is None
    layer = LayerSpec("Dense", (Tensor("float32", (8, 4)),), {"units": 2})
    assert predict_job(model(), ModelSpec((layer,)), ModelUse("fit", 10)) is None


def test_every_point_has_features_and_comes_back_from_json():
    points = all_points()
    assert len({point.name for point in points if point.kind == "call"}) >= 120
    assert all(CalibrationPoint.from_json(point.as_json()) == point for point in points)
    shares = parts(points, 4)
    assert sorted(point.id for part in shares for point in part) == list(range(len(points)))


def test_a_machine_that_repeats_itself_badly_is_marked():
    steady, shaky = (
        CalibrationRuns(references=[[100, 100] + [100, 101, 99, 100] * 5]),
        CalibrationRuns(references=[[1, 1, 60, 100, 140, 80, 120]]),
    )
    assert steady.repeatability < 0.02
    assert shaky.repeatability > 0.10


def test_a_quick_calibration_begins_with_what_models_need():
    points, everything = all_points(quick=True), all_points()
    kinds = [point.kind for point in points]
    assert kinds.index("call") > max(
        place for place, one in enumerate(points) if one.name in ("Dense", "Conv2D", "Adam")
    )

    def sizes(chosen):
        found = {}
        for point in chosen:
            if point.kind == "layer" and point.run == "train":
                part = layer_cost(point.layer).parts[0]
                found.setdefault(part.kind, []).append(sum(part.features))
        return found

    quick, full = sizes(points), sizes(everything)
    assert quick.keys() == full.keys()
    assert all(len(quick[kind]) >= min(3, len(full[kind])) for kind in full)
    assert sum(map(len, quick.values())) < sum(map(len, full.values()))


def test_what_there_is_no_time_for_is_left_out():
    class Maker:
        def make(self, point):
            return lambda: None

    points = [{"id": number, "mode": "eager"} for number in range(5)]
    tell = lambda fraction: None  # noqa: E731
    ready, failed = program.prepare(Maker(), points, lambda: None, tell, until=0.0)
    assert (ready, failed) == ([], [])
    ready, _ = program.prepare(Maker(), points, lambda: None, tell)
    found, _ = program.rounds(ready, lambda: None, lambda: None, 5.0, 4, tell, until=0.0)
    assert [len(runs) for runs in found.values()] == [1] * 5  # once, however late it is


def test_a_constant_costs_what_converting_to_a_tensor_does():
    made = [("tensorflow.convert_to_tensor", (1e-3, 0.0, 0.0)), ("family:copy", (9.0, 0.0, 0.0))]
    known = [Coefficient("c", name, "eager", "copy", values, 0.0, 1.0, 5) for name, values in made]
    known += [
        Coefficient("c", "interval", f"{kind}:eager", "", (-0.5,) * 4 + (0.5,) * 4, 0.0, 0.0, 1)
        for kind in ("call", "family")
    ]
    spec = CallSpec("tensorflow.constant", (Tensor("float32", (4,)),))
    assert CostModel(calibration(), known).call(spec).joules == pytest.approx(1e-3)


def dense_calibration(*intervals):
    """One dense layer, a step that costs 1 J beside it and 0.5 J a byte that goes in, and 4 J to set a call up."""

    def made(name, mode, values, reach=()):
        return Coefficient("c", name, mode, "", values, 0.0, 0.0, 5, reach=reach)

    known = [made("layer:Dense", run, (2.0, 0.0, 0.0, 0.0)) for run in ("forward", "train", "first")]
    known += [
        made("optimizer:Adam", "graph", (0.0, 0.0, 0.0)),
        made("scale", "fit", (1.0,)),
        made("step", "fit", (1.0, 0.0, 0.0), (8192.0, 8192.0)),
        made("once", "fit", (4.0, 0.0)),
        made("trace", "fit", (0.0, 0.0, 0.0)),
    ]
    known += [made("interval", kind, ends) for kind, ends in intervals]
    return CostModel(calibration(), known)


def fit_of(width, steps, costs):
    layer = LayerSpec("Dense", (Tensor("float32", (32, width)),), {"units": 4})
    return predict_job(costs, ModelSpec((layer,), "Adam"), ModelUse("fit", steps, first=False))


def test_what_a_call_sets_up_and_its_steps_are_off_each_by_themselves():
    log_two = math.log(2.0)
    costs = dense_calibration(("fit", (-log_two, log_two)), ("once:fit", (-0.1, 0.1)))
    found = fit_of(8, 1, costs)
    assert found.joules == pytest.approx(2.0 + 1.0 + 4.0)
    assert found.high == pytest.approx(7.0 + math.hypot(3.0, 4.0 * (math.exp(0.1) - 1)))
    older = fit_of(8, 1, dense_calibration(("fit", (-log_two, log_two))))
    assert older.high == pytest.approx(7.0 + math.hypot(3.0, 4.0))


def test_a_model_that_moves_more_than_any_that_was_calibrated_is_said_to_be_outside():
    costs = dense_calibration(("fit", (-0.5, 0.5)), ("once:fit", (-0.1, 0.1)))
    inside, outside = fit_of(8, 100, costs), fit_of(4096, 100, costs)
    assert (inside.outside, outside.outside) == (False, True)
    assert outside.high / outside.joules > inside.high / inside.joules


def test_a_reference_model_far_from_the_others_does_not_widen_the_interval_of_all():
    def seen(width, step):
        return MeasuredModel("fit", 1.0, (width, 0.0), (1.0, 1.0), step, 1.0, 1.0, 0.0, 1.0)

    alike = [seen(5000.0 + 10 * number, 3.0 + 0.01 * number) for number in range(8)]
    assert len(residuals("fit", alike, "c", 1.0).steps) == 8
    assert len(residuals("fit", [*alike, seen(1e6, 90.0)], "c", 1.0).steps) == 8


def test_what_is_random_is_drawn_in_training_before_the_first_weights():
    def made(name, mode, values):
        return Coefficient("c", name, mode, "", values, 0.0, 0.0, 5)

    known = [made("layer:RandomFlip", "forward", (0.0, 0.0)), made("layer:RandomFlip", "first", (7.0, 0.0))]
    known.append(made("optimizer:Adam", "graph", (0.0, 0.0, 0.0)))
    layer = LayerSpec("RandomFlip", (Tensor("float32", (32, 8, 8, 3)),))
    costs = CostModel(calibration(), known)
    found = [
        ModelJob(costs, ModelSpec((layer,)), [layer_cost(layer)], ModelUse(method, 1)).parts(method)[0]
        for method in ("evaluate", "fit")
    ]
    assert found == [[0.0], [7.0]]


def test_a_gradient_is_what_training_costs_beside_the_way_there():
    def made(name, mode, values):
        return Coefficient("c", name, mode, "", values, 0.0, 0.0, 5)

    known = [
        made("layer:Dense", "forward", (2.0, 0.0, 0.0, 0.0)),
        made("layer:Dense", "train", (7.0, 0.0, 0.0, 0.0)),
    ]
    known += [
        made("layer:Dense", "first", (6.0, 0.0, 0.0, 0.0)),
        made("optimizer:SGD", "graph", (0.5, 0.0, 0.0)),
    ]
    layer = LayerSpec("Dense", (Tensor("float32", (32, 8)),), {"units": 8})
    costs, model = CostModel(calibration(), known), ModelSpec((layer, layer), "SGD")

    def of(method):
        return ModelJob(costs, model, [layer_cost(layer)] * 2, ModelUse(method, 1)).parts(method)[:2]

    assert of("call") == ([2.0, 2.0], 0.0)
    assert of("gradient") == ([4.0, 5.0], 0.0)
    assert of("update") == ([0.0, 0.0], 0.5)


def test_a_calibration_says_what_there_was_no_time_for():
    assert not any("no time" in line for line in calibration_lines(calibration(), 390, 55.0))
    lines = calibration_lines(calibration(), 290, 55.0, left_out=100)
    assert any("no time for 100 of 390" in line and "without --quick" in line for line in lines)


def test_what_an_optimizer_keeps_decides_what_tracing_its_updates_takes():
    def traced(each, variables):
        return FitSample(
            "optimizer:X", "graph", "optimizer", (variables, 8.0), 1.0, 1e-6, trace=0.5 + each * variables
        )

    update = fitted([traced(0.25, count) for count in (2.0, 16.0, 40.0)])
    assert update.trace == pytest.approx(0.25)

    def first_joules(trace):
        known = dense_calibration(("fit", (-0.5, 0.5)), ("trace:fit", (-0.5, 0.5)))
        known._known["optimizer:Adam", "graph"] = replace(known.need("optimizer:Adam", "graph"), trace=trace)
        known._known["trace", "fit"] = replace(known.need("trace", "fit"), values=(1.0, 0.0, 2.0))
        layer = LayerSpec("Dense", (Tensor("float32", (32, 8)),), {"units": 4})
        return predict_job(known, ModelSpec((layer,), "Adam"), ModelUse("fit", 1)).first_joules

    assert first_joules(3.0) - first_joules(0.5) == pytest.approx(2 * 2.0 * 2.5)  # weights and bias


def test_the_first_model_of_a_program_loads_what_later_ones_find():
    costs = dense_calibration(("fit", (-0.5, 0.5)), ("trace:fit", (-0.5, 0.5)))
    costs._known["trace", "fit"] = replace(costs.need("trace", "fit"), values=(1.0, 0.0, 0.0))
    costs._known["first", "model"] = Coefficient("c", "first", "model", "", (4.0,), 0.0, 0.0, 1)
    layer = LayerSpec("Dense", (Tensor("float32", (32, 8)),), {"units": 4})
    jobs = [ModelUse("fit", 1, start=True), ModelUse("fit", 1), ModelUse("fit", 1, first=False)]
    found = [predict_job(costs, ModelSpec((layer,), "Adam"), job).first_joules for job in jobs]
    assert found == pytest.approx([5.0, 1.0, 0.0])
