"""Measuring rules: both sides of a workload on this machine, refused where their outputs differ."""

from __future__ import annotations

import contextlib
import importlib.util
import itertools
import json
import linecache
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from types import SimpleNamespace
from typing import Any, Literal, NamedTuple

from energy_code.rule_engine.evidence.equality import difference
from energy_code.rule_engine.evidence.programs import WorkloadError, fingerprint, program
from energy_code.rule_engine.evidence.workload import SIZES, Size
from energy_code.rule_engine.rule import Rule
from energy_code.rules import ALL
from energy_data.model import RuleEvidence
from energy_data.published.figures import WORKLOAD
from energy_measure.comparison.pairs import NotResolvedError
from energy_measure.comparison.rules import RuleCase, UnequalOutputsError, corrected, measure_case
from energy_measure.comparison.windows import MeteredProcess

Mode = Literal["eager", "graph"]
CASES_PER_METERING = 24
"""All that was sampled is read again for each case, so the meters begin anew from time to time."""


class Refused(NamedTuple):
    """A case that gave no evidence, and why."""

    rule: str
    words: str


class Planned(NamedTuple):
    """One comparison to make."""

    rule: Rule
    size: Size
    mode: Mode


def plan(rules: Iterable[Rule], sizes: Iterable[Size] = SIZES) -> list[Planned]:
    """All sizes in eager mode, and inside `tf.function` where the workload runs there."""
    wanted = tuple(sizes)
    return [
        Planned(rule, size, mode)
        for rule in rules
        for mode in (("eager", "graph") if rule.workload.graph else ("eager",))
        for size in wanted
    ]


def measure(
    planned: Iterable[Planned],
    *,
    pairs: int,
    meter: str = "auto",
    report: Callable[[Planned, RuleEvidence | Refused], None] = lambda case, result: None,
) -> tuple[list[RuleEvidence], list[Refused]]:
    """Compare the sides of each case; p values hold for all cases together.

    Ctrl-C ends the measuring, and what is measured by then is kept.
    """
    import tensorflow as tf

    tf.get_logger().setLevel("ERROR")
    finish = tf.test.experimental.sync_devices if tf.config.list_physical_devices("GPU") else None
    found: list[RuleEvidence] = []
    refused: list[Refused] = []
    waiting = iter(planned)
    with contextlib.suppress(KeyboardInterrupt):
        while cases := list(itertools.islice(waiting, CASES_PER_METERING)):
            with MeteredProcess(meter) as metered:
                for case in cases:
                    result = _one(case, metered, pairs, tf.__version__, finish)
                    if isinstance(result, Refused):
                        refused.append(result)
                    else:
                        found.append(result)
                    report(case, result)
    return corrected(found) if found else [], refused


def _one(
    planned: Planned,
    metered: MeteredProcess,
    pairs: int,
    tensorflow: str,
    finish: Callable[[], object] | None,
) -> RuleEvidence | Refused:
    rule, workload = planned.rule, planned.rule.workload
    try:
        return measure_case(
            make_case(planned),
            metered,
            pairs=pairs,
            tensorflow=tensorflow,
            finish=finish,
            difference=lambda one, other: difference(one, other, workload.tolerance, workload.absolute),
        )
    except (WorkloadError, UnequalOutputsError, NotResolvedError) as problem:
        return Refused(rule.name, str(problem))
    except Exception as problem:  # one case that cannot be measured must not cost the others
        return Refused(rule.name, f"{rule.name} ({planned.size}, {planned.mode}): {_words(problem)}")


def make_case(planned: Planned) -> RuleCase:
    """Both sides as callables, each with inputs of its own, run once to see that they work."""
    rule, size, mode = planned
    made = load(rule)
    before = _ready(made, "before", planned)
    after = _ready(made, "after", planned)
    return RuleCase(rule.name, size, mode, before, after)


def load(rule: Rule) -> SimpleNamespace:
    """Run the workload's program: `inputs`, `before`, `after`."""
    name = f"<workload of {rule.name}>"
    namespace: dict[str, Any] = {"__name__": name}
    try:
        source = program(rule)
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)  # AutoGraph reads it
        exec(compile(source, name, "exec"), namespace)
    except WorkloadError:
        raise
    except Exception as problem:
        raise WorkloadError(f"the workload of {rule.name} does not load: {_words(problem)}") from problem
    return SimpleNamespace(**namespace)


def _ready(made: SimpleNamespace, side: str, planned: Planned) -> Callable[[], Any]:
    function: Callable[..., Any] = getattr(made, side)
    try:
        if planned.mode == "graph":
            import tensorflow as tf

            function = tf.function(function)
        arguments = made.inputs(planned.size)
        function(*arguments)
    except Exception as problem:
        raise WorkloadError(
            f"{planned.rule.name}: the side {side} failed on {planned.size} inputs ({planned.mode}): "
            f"{_words(problem)}"
        ) from problem
    return lambda: function(*arguments)


def _words(problem: Exception) -> str:
    return f"{type(problem).__name__}: {str(problem).strip().splitlines()[0] if str(problem).strip() else ''}"


def tensorflow_is_there() -> bool:
    """Whether this interpreter has TensorFlow, without importing it."""
    return importlib.util.find_spec("tensorflow") is not None


def as_lines(evidence: Iterable[RuleEvidence]) -> Iterator[str]:
    """One JSON object a line, the form in which evidence ships and is shared."""
    for item in evidence:
        row = asdict(item)
        del row["source"]
        for name in ("ratio", "low", "high", "p_value", "a12", "control_ratio", "joules_before"):
            row[name] = float(f"{row[name]:.4g}")
        row[WORKLOAD] = fingerprint(ALL[item.rule])
        yield json.dumps(row, ensure_ascii=False)
