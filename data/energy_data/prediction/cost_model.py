"""Calibrated coefficients, and what they say of a call: joules = dispatch + features × coefficients."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence

from energy_data.model import Calibration, Coefficient
from energy_data.prediction.api_families import FAMILY_OF, SAME_WORK
from energy_data.prediction.families import features
from energy_data.prediction.specs import CallSpec, First, Prediction

BANDS = (1e-4, 1e-3, 1e-2)
"""Seconds of CPU at which another band of intervals begins: what dispatch, caches and threads do differs between them."""
OUTSIDE = 1.5
"""Features beyond this multiple of the largest calibrated ones are outside."""
SMALL_FEATURE = 4096.0
"""Below this no feature is outside: such sizes cost next to nothing beside the dispatch."""
WIDER = 1.5
"""How much wider, on the logarithm, an interval is outside of what was calibrated."""
NOISY = 0.10
"""Scatter of the reference above which a calibration is marked."""
CPU = "cpu"
"""The name under which the joules of a CPU second are kept."""
PROCESS = "process"
CORRECTION = "correction"
"""The name under which is kept, by API, how much dearer measurements found it than the calibration."""
FIRST_MODEL = "model"
"""The first method of a model in a process, among what first calls cost more."""
FIRST = "first"
"""The name under which is kept, by API, what its first call in a process costs more; of TensorFlow's first as `process`."""
EDITION_NAME = "edition"
EDITION = 2
"""What a calibration learns: higher when there are costs that those of before know nothing about."""
INTERVAL = "interval"
"""The name under which the spread of runs about predictions is kept."""


def cost(coefficient: Coefficient, given: Sequence[float]) -> float:
    """Joules of these features; raises `KeyError` where the coefficients are not for them."""
    values = coefficient.values
    if len(values) <= len(given):
        raise KeyError(coefficient.name)
    total = values[0]
    for place, value in enumerate(given, 1):
        total += values[place] * value
    return total


def outside(coefficient: Coefficient, given: Sequence[float]) -> bool:
    """True when a feature is beyond what was calibrated."""
    for value, most in zip(given, coefficient.reach, strict=False):
        if value > SMALL_FEATURE and value > OUTSIDE * most:
            return True
    return False


class CostModel:
    """What one calibration says: of calls here, of models in `whole_models`."""

    def __init__(self, calibration: Calibration, coefficients: Iterable[Coefficient]) -> None:
        self.calibration = calibration
        self._known = {(each.name, each.mode): each for each in coefficients}
        self.scale = calibration.scale
        """Learned from measurements that were made after the calibration."""
        watts = self._known.get((CPU, ""))
        self.watts = watts.values[0] if watts is not None else 1.0
        """Joules of a CPU second."""

    @property
    def outdated(self) -> bool:
        """True when it was made before all was learned that is predicted now."""
        found = self._known.get((EDITION_NAME, ""))
        return found is None or found.values[0] < EDITION

    def find(self, name: str, mode: str) -> Coefficient | None:
        """The coefficients of something, if it was calibrated."""
        return self._known.get((name, mode))

    def need(self, name: str, mode: str) -> Coefficient:
        """The same; raise `KeyError` if there are none."""
        return self._known[name, mode]

    def correction(self, api: str) -> float:
        """What measurements taught about one API, beside the machine's scale."""
        found = self._known.get((CORRECTION, api))
        return found.values[0] if found is not None else 1.0

    def interval(
        self, kind: str, joules: float, of_one: float, *, wider: float = 1.0
    ) -> tuple[float, float] | None:
        """The interval about a figure; `of_one`: the joules of one run, which say what band of cost it is in."""
        spread = self._known.get((INTERVAL, kind))
        if spread is None:
            return None
        bands = len(spread.values) // 2
        band = bisect_right(BANDS, of_one / self.watts) if bands > 1 else 0
        low, high = spread.values[band] * wider, spread.values[bands + band] * wider
        return joules * math.exp(low), joules * math.exp(high)

    def first(self, api: str, kind: First) -> tuple[float, float, float]:
        """What a first call costs more, and its interval."""
        found = self._known.get((FIRST, api)) or self._known.get((FIRST, ""))
        if not kind or found is None:
            return 0.0, 0.0, 0.0
        joules = found.values[0]
        if kind == "process" and (start := self._known.get((FIRST, PROCESS))) is not None:
            joules += start.values[0]
        joules *= self.scale
        low, high = self.interval(FIRST, joules, joules) or (joules, joules)
        return joules, low, high

    def call(self, spec: CallSpec, first: First = "") -> Prediction | None:
        """The prediction of one call; None where the API or its shapes are not known well enough for a figure.

        `first`: whether it is a first call; what that costs is in the figure, and given by itself.
        """
        given = features(spec)
        if given is None:
            return None
        api = SAME_WORK.get(spec.api, spec.api)
        found, kind = self._known.get((api, spec.mode)), f"call:{spec.mode}"
        if found is None:
            # Another API of the family stands in, with the interval that such a loan has shown to need.
            found = self._known.get((f"family:{FAMILY_OF[spec.api]}", spec.mode))
            kind = f"family:{spec.mode}"
        if found is None:
            return None
        try:
            joules = cost(found, given) * self.scale * self.correction(spec.api)
        except KeyError:
            return None
        beyond = outside(found, given)
        ends = self.interval(kind, joules, joules, wider=WIDER if beyond else 1.0)
        if ends is None:
            return None
        more = self.first(api, first if spec.mode == "eager" else "")
        joules, low, high = total([(joules, *ends), more])
        return Prediction(
            joules=joules,
            low=low,
            high=high,
            seconds=joules / (found.watts or self.watts),
            cpu_seconds=joules / self.watts,
            first_joules=more[0],
            outside=beyond,
            missing=(spec.api,) if kind.startswith("family") else (),
        )


def total(predictions: Iterable[tuple[float, float, float]]) -> tuple[float, float, float]:
    """The sum of independent predictions (joules, low, high): their deviations add as squares do."""
    joules = below = above = 0.0
    for middle, low, high in predictions:
        joules += middle
        below += (middle - low) ** 2
        above += (high - middle) ** 2
    return joules, max(0.0, joules - math.sqrt(below)), joules + math.sqrt(above)
