"""Tensors of a functional model: where they stand in a structure, and in which order they are made."""

from __future__ import annotations

from typing import Any

from energy_code.static_shapes.values.kinds import (
    Node,
)


def nodes(value: Any) -> list[Node]:
    """The tensors of a structure, in order."""
    return [each for each in leaves(value) if isinstance(each, Node)]


def only_nodes(value: Any) -> bool:
    """Whether a structure holds nothing else."""
    return all(isinstance(each, Node) for each in leaves(value))


def leaves(value: Any) -> list[Any]:
    """Whatever a structure holds, in order."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        return [leaf for each in value for leaf in leaves(each)]
    return [value]


def in_order(outputs: Any, starts: list[Node]) -> list[Node]:
    """The nodes that lead to the outputs, each after those it is made from."""
    done = {id(start) for start in starts}
    order: list[Node] = []
    waiting: list[tuple[Node, bool]] = [(node, False) for node in reversed(nodes(outputs))]
    while waiting:
        node, ready = waiting.pop()
        if id(node) in done:
            continue
        if ready or node.function is None:
            done.add(id(node))
            if node.function is not None:
                order.append(node)
            continue
        waiting.append((node, True))
        sources = [*nodes(node.given), *nodes(dict(node.named))]
        waiting += [(each, False) for each in reversed(sources) if id(each) not in done]
    return order
