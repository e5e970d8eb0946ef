"""Chains of operations that TensorFlow may run as one, with a convolution or a product of matrices at their beginning.

Its graph optimizer (Grappler) puts what follows such an operation (bias, addition, normalization, activation) into it, and
the profiler then names the whole by the last of the chain. Who heads a chain is noted while the graph is built, where the
last one is another layer's, or stands in another line.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Mapping, Tuple

    Chain = Tuple[str, Tuple[str, ...]]
    """Type of the operation at its head, and names: from the one before the last back to the head."""
    Row = Tuple[int, str, str, int]

HEADS = frozenset(
    (
        "Conv2D",
        "Conv3D",
        "DepthwiseConv2dNative",
        "MatMul",
        "BatchMatMul",
        "BatchMatMulV2",
        "BatchMatMulV3",
        "FusedBatchNorm",
        "FusedBatchNormV2",
        "FusedBatchNormV3",
    )
)
LAST = frozenset(
    (
        "Add",
        "AddV2",
        "BiasAdd",
        "Elu",
        "FusedBatchNorm",
        "FusedBatchNormV2",
        "FusedBatchNormV3",
        "LeakyRelu",
        "Mul",
        "Relu",
        "Relu6",
        "Sigmoid",
        "Tanh",
    )
)
"""What a fusion may end with."""
LONGEST = 8
MOST = 4
"""Chains of one operation, the shortest ones: both sides of an addition may have one."""


def chains_of(operation: Any, known: Mapping[str, Tuple[Chain, ...]]) -> Tuple[Chain, ...]:
    """The chains that an operation is the last of; `known`: those of the operations before it."""
    found: Dict[str, Chain] = {}
    for tensor in operation.inputs:
        source = tensor.op
        name, kind = source.name, source.type
        longer: List[Chain] = [(kind, (name,))] if kind in HEADS else []
        if kind not in HEADS or kind.startswith("FusedBatchNorm"):
            longer += [(head, (name, *names)) for head, names in known.get(name, ()) if len(names) < LONGEST]
        for chain in longer:
            head = chain[1][-1]
            if head not in found or len(chain[1]) < len(found[head][1]):
                found[head] = chain
    return tuple(sorted(found.values(), key=lambda chain: len(chain[1]))[:MOST])


def across_layers(
    rows: Mapping[str, Row], chains: Mapping[str, Tuple[Chain, ...]], last: List[str]
) -> List[List[Any]]:
    """Chains as the journal has them, by the operations' numbers: only those from one layer, or line, to another."""
    numbers = {name: number for number, name in enumerate(rows)}
    found: List[List[Any]] = []
    for name in last:
        layer, _, _, place = rows[name]
        own = [
            [head, *(numbers[one] for one in names)]
            for head, names in chains[name]
            if all(one in numbers for one in names) and differs(rows[names[-1]], layer, place)
        ]
        if own:
            found.append([numbers[name], own])
    return found


def differs(head: Row, layer: int, place: int) -> bool:
    """Whether the head of a chain is of another layer; outside of layers, whether it stands elsewhere."""
    return head[0] != layer or (not layer and head[3] != place)
