"""What TensorFlow's graph optimizer made one operation of several: whose it is.

A convolution or a product of matrices takes in what follows it: bias, addition, normalization, activation. The profiler
names the whole by the last of them, which would give a ReLU the joules of the convolution before it. What is taken in is
computed while the values are at hand and costs next to nothing, so the whole is the layer's of the operation at the head;
the layers that were taken in are named with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from energy_measure.inside.recorded import Chain, OperationRecord, Recorded

_FUSED = re.compile(r"^_(?:Mkl)?(?:Native)?(?:PadWith)?Fused(\w+?)(?:V\d+|Ex)?$")
_VERSION = re.compile(r"^(?:Fused)?(\w+?)(?:V\d+)?$")

Find = Callable[[str, str], tuple[OperationRecord | None, str]]
"""The record of an operation and the name it was noted under, from an event's name and the function that executed."""


class Fusions:
    """Fusions across layers in one process."""

    def __init__(self, recorded: Recorded, find: Find) -> None:
        self._recorded = recorded
        self._find = find
        self._ran: dict[str, set[str]] | None = None

    def chain(self, record: OperationRecord, name: str, kind: str, function: str) -> Chain | None:
        """The chain that an execution of `kind` stands for, if its head is of another layer or line than its last.

        An addition has two sides. The side that was not fused ran by itself.
        """
        chains = self._recorded.chains.get((record.graph, name))
        fused = _FUSED.match(kind) if chains else None
        if chains is None or fused is None:
            return None
        alike = [chain for chain in chains if _VERSION.sub(r"\1", chain.head) == fused[1]]
        ran = self._names_that_ran().get(function, set()) if alike else set()
        return next((chain for chain in alike if ran.isdisjoint(chain.names)), next(iter(alike), None))

    def _names_that_ran(self) -> dict[str, set[str]]:
        """By function: operations that were executed under their own names."""
        if self._ran is None:
            recorded = self._recorded
            pairs = np.column_stack((recorded.rows[:, 1], recorded.running(recorded.rows)))
            self._ran = {}
            for number, at in np.unique(pairs, axis=0).tolist():
                function = recorded.functions.get(at, "")
                operation = recorded.names[number].rpartition(":")[0]
                self._ran.setdefault(function, set()).add(self._find(operation, function)[1])
        return self._ran

    def record(self, name: str, graph: int) -> OperationRecord | None:
        """What was noted of an operation of one graph."""
        found = self._recorded.operations.get(name, ())
        return next((record for record in found if record.graph == graph), None)
