"""From the name of an event to its layer, pass and lines.

The profiler names what ran as the runtime calls it: functions were put into each other, loops lowered, operations
rewritten. What each rewriting adds to a name is taken off until the name is one that was noted when the graph was
built.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from energy_measure.inside.fusions import Fusions
from energy_measure.inside.recorded import OperationRecord, Place, Recorded

Pass = Literal["forward", "backward", "optimizer", "loss", "input", "runtime"]
PASSES: tuple[Pass, ...] = get_args(Pass)

_CALL = re.compile(r"^(?:.*?/)?(?:Stateful)?PartitionedCall(?:_\d+)?/")
_BODY = re.compile(r"^.*?/(?:body|cond|then|else|branch\d*|true|false)/_\d+/")
_LOOPED = re.compile(r"/(?:body|cond|merge|switch|next_iteration)/_\d+(?:/|$)")
_LAYOUT = re.compile(r"-\d+-(?:Transpose|Permute)\w+-LayoutOptimizer$")
_SUFFIX = re.compile(r"(?:-folded-\d+|-const-\d+|-\d+-\w*Optimizer|__cf__\d+|_const_axis)$")
_OPTIMIZED = re.compile(r"^(?:ArithmeticOptimizer|ConstantFolding|LoopOptimizer|Func)/")
_REWRITTEN = re.compile(r"(?:ArithmeticOptimizer|ConstantFolding|RemapperOptimizer)/[A-Za-z]+_(?=[A-Za-z])")
_PRODUCT = re.compile(r"(^|/)(?:Mul|Const)_(?=AddN)")
_SENT = re.compile(r"^_(?:send|recv)_(.*)_\d+$")
_DATASET_FUNCTION = re.compile(
    r"__inference_Dataset_(flat_map|group_by_window|rejection_resample|take_while|[a-z]+)_(.+?)_\d+$"
)
_INPUT_OPERATIONS = re.compile(r"(?:Iterator|Dataset|^Optional)")
_LIBRARY = re.compile(r"^_(?:Mkl(?:Native)?)?")
MOST_NAMED = 3
"""Layers that the label of a fusion names."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an operation comes from: what parts of a call are distinguished by."""

    path: str
    kind: str
    stage: Pass
    file: str
    line: int
    """0: no line of the program's own."""
    cell: tuple[int, int] = (0, 0)
    """In a notebook: the cell and the line in it."""

    @property
    def key(self) -> tuple[str, Pass]:
        """What makes a part: a path may be reached from several lines."""
        return self.path, self.stage


RUNTIME = Origin("TensorFlow runtime and Python", "runtime", "runtime", "", 0)
TRACING = Origin("building graphs (tracing)", "tracing", "runtime", "", 0)


@dataclass(frozen=True, slots=True)
class FusedIn:
    """A layer, or a line outside of layers, whose operations run as part of another one's."""

    path: str
    file: str
    line: int
    cell: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class Found:
    """An event's origin, with the lines where it is called, and whether it is known at all."""

    origin: Origin
    called: tuple[Place, ...]
    operation: str
    """Its type."""
    mapped: bool = True
    scope: str = ""
    """The name that the operation was noted under; of a gradient that of its forward operation."""
    looped: bool = False
    """It runs in the body of a loop, or says whether that goes on."""
    eager: bool = False
    """It ran outside of graphs."""
    layer: int = 0
    """The layer's number: several may have one path."""
    fused: tuple[FusedIn, ...] = ()
    """What TensorFlow's graph optimizer took into it of other layers and lines."""


class Origins:
    """Origins of the events of one process."""

    def __init__(self, recorded: Recorded) -> None:
        self._recorded = recorded
        self._graphs = {name: number for number, name in enumerate(recorded.graphs)}
        self._scopes = self._find_scopes()
        self._fusions = Fusions(recorded, self.find)

    def of(self, name: str, function: str) -> Found:
        """The origin of an event by its name; `function`: what was executing, where one name stands for several."""
        if name.startswith("hlo:"):
            return self._of_instruction(name, function)
        if name.startswith("eager:"):
            return self._of_eager(name)
        if name.startswith("Iterator::"):
            kind = name.rsplit("::", 1)[1].split("[", 1)[0]
            return Found(Origin(f"tf.data/{kind}", kind, "input", "", 0), (), kind)
        operation, _, kind = name.rpartition(":")
        record, known = self.find(operation, function)
        if record is None:
            if _INPUT_OPERATIONS.search(kind):
                return Found(Origin(f"tf.data/{kind}", kind, "input", "", 0), (), kind)
            return Found(RUNTIME, (), kind, mapped=False)
        found = self._of_fusion(record, known, kind, function) or self._of_record(record, known, _shown(kind))
        return replace(found, looped=True) if _LOOPED.search(operation) else found

    # Names

    def find(self, name: str, function: str) -> tuple[OperationRecord | None, str]:
        """The record of the operation that a name stands for, and the name it was noted under."""
        for candidate in _candidates(name):
            records = self._recorded.operations.get(candidate)
            if records is not None:
                return self._nearest(records, function), candidate
        for candidate in _candidates(name):
            scope = candidate
            while "/" in scope:
                scope = scope.rpartition("/")[0]
                record = self._scopes.get(scope)
                if record is not None:
                    return record, candidate
        return None, name

    def _nearest(self, records: Sequence[OperationRecord], function: str) -> OperationRecord:
        """The graph that became a function last before the one that runs: what it calls is made right before it."""
        if len(records) == 1:
            return records[0]
        running = self._graphs.get(function, len(self._recorded.graphs))
        before = [record for record in records if record.graph <= running]
        return max(before, key=lambda record: record.graph) if before else records[0]

    def _find_scopes(self) -> dict[str, OperationRecord]:
        """Scopes all of whose operations are of one layer and pass."""
        scopes: dict[str, OperationRecord | None] = {}
        for name, records in self._recorded.operations.items():
            scope = name
            while "/" in scope:
                scope = scope.rpartition("/")[0]
                for record in records:
                    if scope not in scopes:
                        scopes[scope] = record
                        continue
                    known = scopes[scope]
                    if known is not None and (known.layer, known.role) != (record.layer, record.role):
                        scopes[scope] = None
        return {scope: record for scope, record in scopes.items() if record is not None}

    # Origins

    def _of_record(self, record: OperationRecord, name: str, kind: str) -> Found:
        name = record.forward or name
        place = self._recorded.places.get(record.place)
        own = (place,) if place is not None else ()
        layer = self._recorded.layers.get(record.layer)
        function = _DATASET_FUNCTION.match(self._recorded.graphs[record.graph])
        if function is not None:
            there = place if record.role != "step" else None  # Keras has functions of its own in datasets
            return self._of_dataset(function, there, name, kind)
        if record.role in ("optimizer", "loss"):
            stage: Pass = "optimizer" if record.role == "optimizer" else "loss"
            return Found(Origin(stage, stage, stage, "", 0), own, kind, scope=name)
        stage = "backward" if record.role == "backward" else "forward"
        if layer is not None:
            at = layer.place or Place("", 0, "")
            origin = Origin(layer.path or layer.kind, layer.kind, stage, at.file, at.line, at.cell)
            return Found(origin, own, kind, scope=name, layer=record.layer)
        if stage == "backward" and record.forward:
            first, _ = self.find(record.forward, self._recorded.graphs[record.graph])
            if first is not None and first.role == "loss":
                return Found(Origin("loss", "loss", "backward", "", 0), own, kind, scope=name)
        if record.role == "step" or place is None:
            path = "the step itself"
            return Found(
                Origin(path, "operation", "runtime" if stage == "forward" else stage, "", 0),
                own,
                kind,
                scope=name,
            )
        path = f"{place.function}/line {place.line}/{kind}"
        return Found(
            Origin(path, "operation", stage, place.file, place.line, place.cell), own, kind, scope=name
        )

    def _of_fusion(self, record: OperationRecord, name: str, kind: str, function: str) -> Found | None:
        """An operation that others were put into: that at the head of the chain, whose name the profiler does not say."""
        chain = self._fusions.chain(record, name, kind, function)
        head = self._fusions.record(chain.names[-1], record.graph) if chain is not None else None
        if chain is None or head is None:
            return None
        found = self._of_record(head, chain.names[-1], _shown(kind))
        members = [self._fusions.record(one, record.graph) for one in reversed(chain.names[:-1])]
        others = dict.fromkeys(
            self._taken_in(one) for one in (*members, record) if one is not None and self._apart(one, head)
        )
        names = [other.path.rpartition("/")[2] for other in others]
        return replace(found, fused=tuple(others), operation=" + ".join([found.operation, *names]))

    @staticmethod
    def _apart(one: OperationRecord, head: OperationRecord) -> bool:
        return one.layer != head.layer if one.layer or head.layer else one.place != head.place

    def _taken_in(self, record: OperationRecord) -> FusedIn:
        layer = self._recorded.layers.get(record.layer)
        place = (layer.place if layer is not None else self._recorded.places.get(record.place)) or Place(
            "", 0, ""
        )
        path = (layer.path or layer.kind) if layer is not None else f"{place.function}/line {place.line}"
        return FusedIn(path, place.file, place.line, place.cell)

    def _of_dataset(self, function: re.Match[str], place: Place | None, name: str, kind: str) -> Found:
        """In a function that `map`, `filter` or the like was given, at the program's own lines of it."""
        at = place or Place("", 0, "")
        called = (place,) if place is not None else ()
        path = f"tf.data/{function[1]} {function[2]}" + (f"/line {at.line}" if at.line else "")
        return Found(Origin(path, "function", "input", at.file, at.line, at.cell), called, kind, scope=name)

    def _of_eager(self, name: str) -> Found:
        return replace(self._of_marked(name), eager=True)

    def _of_marked(self, name: str) -> Found:
        """`eager:layer:4:17:MatMul`, `eager:gradient:4:17:MatMul`, `eager:optimizer:Mul`, `eager::Mul`.

        Numbers are those of the layer, and of the place that calls it.
        """
        parts = name.split(":")
        kind = parts[-1]
        if len(parts) >= 5 and parts[1] in ("layer", "gradient"):
            stage: Pass = "forward" if parts[1] == "layer" else "backward"
            layer = self._recorded.layers.get(int(parts[2]))
            if layer is None:
                return Found(Origin("outside layers", "operation", stage, "", 0), (), kind)
            at = layer.place or Place("", 0, "")
            called = self._recorded.places.get(int(parts[3]))
            return Found(
                Origin(layer.path or layer.kind, layer.kind, stage, at.file, at.line, at.cell),
                (called,) if called is not None else (),
                kind,
                layer=int(parts[2]),
            )
        if parts[1] == "optimizer":
            return Found(Origin("optimizer", "optimizer", "optimizer", "", 0), (), kind)
        if _INPUT_OPERATIONS.search(kind):
            return Found(Origin(f"tf.data/{kind}", kind, "input", "", 0), (), kind)
        return Found(Origin("outside layers", "operation", "runtime", "", 0), (), kind)

    def _module(self, name: str) -> Mapping[str, list[str]]:
        """What XLA compiled, by `name(number)`; a GPU may not give the number, and then only one has the name."""
        modules = self._recorded.modules
        if name not in modules:
            alike = [key for key in modules if key.partition("(")[0] == name.partition("(")[0]]
            return modules[alike[0]] if len(alike) == 1 else {}
        return modules[name]

    def _of_instruction(self, name: str, function: str) -> Found:
        """An instruction of XLA: the layer of its root, labelled where what is fused in it is of several layers."""
        _, module, instruction = name.split(":", 2)
        operations = self._module(module).get(instruction, [])
        found: list[Found] = []
        for operation in operations:
            record, known = self.find(operation.split(";")[0].rstrip(":"), function)
            if record is not None:
                found.append(self._of_record(record, known, instruction.rstrip("0123456789.")))
        if not found:
            return Found(RUNTIME, (), instruction, mapped=False)
        root = found[0]
        layers = list(
            dict.fromkeys(one.origin for one in found if one.origin.stage in ("forward", "backward"))
        )
        paths = list(dict.fromkeys(origin.path for origin in layers))
        if len(paths) <= 1 or root.origin.stage not in ("forward", "backward"):
            return replace(root, operation=instruction, scope="")
        named = " + ".join(path.rpartition("/")[2] for path in paths[:MOST_NAMED])
        more = f" + {len(paths) - MOST_NAMED} more" if len(paths) > MOST_NAMED else ""
        common = _common_parent(paths)
        label = f"fused: {named}{more}"
        origin = Origin(
            f"{common}/{label}" if common else label,
            "fusion",
            root.origin.stage,
            root.origin.file,
            root.origin.line,
            root.origin.cell,
        )
        return Found(origin, root.called, instruction)


def _common_parent(paths: Sequence[str]) -> str:
    """The scope that holds all of some paths."""
    parts = [path.split("/")[:-1] for path in paths]
    common = []
    for level in zip(*parts, strict=False):
        if len(set(level)) > 1:
            break
        common.append(level[0])
    return "/".join(common)


def _candidates(name: str) -> list[str]:
    """A name as the runtime says it, and with each thing taken off that rewriting put before or behind it."""
    sent = _SENT.match(name)
    seen = [sent.group(1) if sent else name]
    for candidate in seen:  # grows while it is gone through
        for pattern in (_CALL, _BODY, _OPTIMIZED):
            shorter = pattern.sub("", candidate, count=1)
            if shorter != candidate and shorter not in seen:
                seen.append(shorter)
        for pattern in (_REWRITTEN, _PRODUCT):
            shorter = pattern.sub(r"\1" if pattern is _PRODUCT else "", candidate)
            if shorter != candidate and shorter not in seen:
                seen.append(shorter)
        for pattern in (_LAYOUT, _SUFFIX):
            shorter = pattern.sub("", candidate)
            if shorter != candidate and shorter not in seen:
                seen.append(shorter)
        if len(seen) > 32:
            break
    return seen


def _shown(kind: str) -> str:
    """A type of operation without what says which library computes it."""
    return _LIBRARY.sub("", kind) or kind
