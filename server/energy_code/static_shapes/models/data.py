"""What a method of a model is given: batches, how many, and what is said of them."""

from __future__ import annotations

from typing import Any

from energy_code.static_shapes.doors import Walk
from energy_code.static_shapes.libraries.datasets import ENDLESS
from energy_code.static_shapes.models.applying import floats
from energy_code.static_shapes.values.kinds import (
    SOME_NUMBER,
    UNKNOWN,
    Array,
    Asked,
    Dataset,
    Function,
    Instance,
)
from energy_code.static_shapes.values.structures import (
    arrays_of,
    items_of,
    mapped,
)

BATCH = 32
"""What Keras takes where nothing is said."""


class Data:
    """What a method of a model is given: batches, how many, and what is said of them."""

    def __init__(self, walk: Walk, bound: dict[str, Any], *, single: bool, training: bool) -> None:
        self.walk, self.bound = walk, bound
        self.given = bound.get("x")
        self.batch: Any = None
        self.steps: int | None = None
        self.samples: int | None = None
        self.size: int | None = None
        self.held_out = 0
        self.last = 1.0
        """How full the last batch of an epoch is."""
        self.fixed = 0
        """Elements of a batch where all batches of arrays have as many: the graph is then traced for that size alone."""
        limit = bound.get("steps_per_epoch", bound.get("steps"))
        if isinstance(self.given, Instance):
            self._sequence(self.given)
        elif isinstance(self.given, Dataset):
            self._dataset(self.given)
        else:
            self._arrays(limit, single, training)
        if limit is not None:
            known = isinstance(limit, int) and not isinstance(limit, bool)
            self.steps = (
                None if not known else limit if self.steps in (None, ENDLESS) else min(self.steps or 0, limit)
            )
        if self.steps == ENDLESS:
            self.steps = None
        found = (
            arrays_of(self.given if not isinstance(self.given, Dataset) else self._inputs(self.given.element))
            or []
        )
        if isinstance(self.given, Instance):
            found = arrays_of(self.batch) or []
        self.shape = ", ".join(map(str, found)) if found else ""

    @property
    def element(self) -> Any:
        """One batch as a step of the program's own is given it: with its targets, where there are any."""
        if isinstance(self.given, Dataset):
            return self.given.element
        targets = self.bound.get("y")
        if targets is None:
            return self.batch
        return self.batch, mapped(
            floats(targets),
            lambda one: Array(one.dtype, (self.size, *one.shape[1:])) if isinstance(one, Array) else UNKNOWN,
        )

    def only_shape(self) -> Asked | None:
        """The shape where nothing can be predicted from it."""
        return Asked(shape=self.shape) if self.shape else None

    def _inputs(self, element: Any) -> Any:
        return element[0] if isinstance(element, tuple) and element else element

    def _sequence(self, owner: Instance) -> None:
        """A `PyDataset` of the program."""
        get, length = owner.cls.find("__getitem__"), owner.cls.find("__len__")
        if isinstance(get, Function):
            element = self.walk.enter(get, [owner, SOME_NUMBER], {})
            batch = self._inputs(element)
            self.batch = floats(batch) if arrays_of(batch) else None
        steps = self.walk.enter(length, [owner], {}) if isinstance(length, Function) else None
        self.steps = steps if isinstance(steps, int) else None

    def _dataset(self, data: Dataset) -> None:
        batch = self._inputs(data.element)
        found = arrays_of(batch)
        if found and all(one.shape for one in found):
            self.batch, self.size = batch, data.batch or None
        self.steps = data.count
        if data.count not in (None, ENDLESS) and data.batch:
            missing = data.batch - data.rest if data.rest else 0
            self.samples = data.count * data.batch - missing
            self.last = data.rest / data.batch if data.rest else 1.0

    def _arrays(self, limit: Any, single: bool, training: bool) -> None:
        found = arrays_of(self.given)
        if not found or not all(one.shape for one in found):
            return
        count = found[0].shape[0]
        self.samples = count
        asked = self.bound.get("batch_size")
        if count is None:
            size = _batch_size(asked, None, limit)
            self.batch = (
                floats(self.given)
                if single
                else mapped(floats(self.given), lambda one: Array(one.dtype, (size, *one.shape[1:])))
            )
            return
        split = self.bound.get("validation_split", 0.0) if training else 0.0
        if not isinstance(split, (int, float)):
            return
        trained = int(count * (1 - split)) if split else count
        size = _batch_size(asked, trained, limit)
        if size is None:
            return
        self.size = count if single else min(size, max(trained, 1))
        self.batch = mapped(floats(self.given), lambda one: Array(one.dtype, (self.size, *one.shape[1:])))
        self.steps = 1 if single else -(-trained // self.size)
        self.last = 1.0 - (-trained % self.size) / self.size if not single and limit is None else 1.0
        self.held_out = count - trained
        self.fixed = size if not single and trained % size == 0 else 0

    def checked_in(self) -> int:
        """The size of the batches that a validation is traced for; 0 where it may vary."""
        given = self.bound.get("validation_data")
        asked = self.bound.get("validation_batch_size", self.bound.get("batch_size", BATCH))
        parts = items_of(given) if given is not None and not isinstance(given, Dataset) else None
        first = arrays_of(parts[0]) if parts else None
        samples = first[0].shape[0] if first and first[0].shape else self.held_out if given is None else None
        known = isinstance(asked, int) and asked > 0 and samples
        return asked if known and samples and samples % asked == 0 else 0

    def validation(self) -> int | None:
        """Steps of the validation after each epoch; None where they are not known."""
        split, given = self.bound.get("validation_split", 0.0), self.bound.get("validation_data")
        asked = self.bound.get("validation_batch_size", self.bound.get("batch_size"))
        limit = self.bound.get("validation_steps")
        if self.bound.get("validation_freq", 1) != 1:
            return None
        if split and isinstance(split, (int, float)) and given is None:
            return self._checked(self.held_out, asked, limit)
        if given is None:
            return 0
        if isinstance(given, Dataset):
            if isinstance(limit, int):
                return limit if given.count in (None, ENDLESS) else min(limit, given.count or 0)
            return None if given.count in (None, ENDLESS) or limit is not None else given.count
        parts = items_of(given)
        first = arrays_of(parts[0]) if parts else None
        if not first or not first[0].shape or first[0].shape[0] is None:
            return None
        return self._checked(first[0].shape[0], asked, limit)

    def _checked(self, samples: int, asked: Any, limit: Any) -> int | None:
        """Steps over arrays, in batches as large as those of the training, which a step's cost is known for."""
        size = _batch_size(asked, samples, limit)
        if size is None or self.size is None or (limit is not None and not isinstance(limit, int)):
            return None
        used = samples if limit is None else min(samples, size * limit)
        return -(-used // self.size)


def _batch_size(asked: Any, samples: int | None, limit: Any) -> int | None:
    """The batches that Keras makes of arrays: where only steps are said, as large as these need; None: not known."""
    if asked is not None:
        return asked if isinstance(asked, int) and asked > 0 else None
    if limit is None:
        return BATCH
    known = isinstance(limit, int) and limit > 0 and samples is not None
    return max(1, -(-samples // limit)) if known and samples is not None else None
