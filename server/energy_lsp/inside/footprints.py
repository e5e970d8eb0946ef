"""Footprints as in Smaragdine: of each layer (TEF), and summed over blocks that are alike (STEF).

Blocks are alike where they stand beside each other and are built alike: the same kinds of layers inside the same kinds of
layers, whatever they are called. `encoder/layer_0 … layer_11` become `encoder/layer_*`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

from energy_data.model import Part
from energy_lsp.inside.groups import LayerGroup, grouped

Signature = tuple[str, tuple["Signature", ...]]


@dataclass(slots=True)
class FootprintNode:
    """A layer in the tree of paths."""

    name: str
    path: str
    kind: str = ""
    joules: float = 0.0
    """Its own, without those of the layers inside it."""
    children: dict[str, FootprintNode] = field(default_factory=dict)

    @property
    def total(self) -> float:
        """With everything inside."""
        return self.joules + sum(child.total for child in self.children.values())


def tree(parts: Sequence[Part]) -> FootprintNode:
    """The layers of some parts by their paths, below one root without a name."""
    root = FootprintNode("", "")
    for part in parts:
        at = root
        for name in part.path.split("/"):
            if name not in at.children:
                at.children[name] = FootprintNode(name, f"{at.path}/{name}" if at.path else name)
            at = at.children[name]
        at.kind = at.kind or part.kind
        at.joules += part.joules
    return root


def tensor_footprints(parts: Sequence[Part]) -> list[LayerGroup]:
    """TEF: what each layer had, the costliest first."""
    return grouped(parts, "layer")


def summarised_footprints(parts: Sequence[Part]) -> list[LayerGroup]:
    """STEF: the same, with blocks that are alike as one."""
    names = similar_blocks(tree(parts))
    return grouped([replace(part, path=_renamed(part.path, names)) for part in parts], "layer")


def similar_blocks(root: FootprintNode) -> dict[str, str]:
    """For the path of each block that has others like it beside it: the name that stands for all of them."""
    found: dict[str, str] = {}
    alike: dict[Signature, list[FootprintNode]] = {}
    for child in root.children.values():
        if child.children:
            alike.setdefault(_signature(child), []).append(child)
        found.update(similar_blocks(child))
    taken: set[str] = set()
    for nodes in alike.values():
        if len(nodes) > 1:
            common = _common_beginning([node.name for node in nodes]).rstrip("0123456789")
            label = f"{common}*" if common else f"{nodes[0].kind or 'block'} *"
            if label in taken:  # others beside them have the same name, but are built otherwise
                label = f"{label} ({len(taken) + 1})"
            taken.add(label)
            found.update({node.path: label for node in nodes})
    return found


def _common_beginning(names: Sequence[str]) -> str:
    shortest = min(names, key=len)
    same = (all(name[at] == letter for name in names) for at, letter in enumerate(shortest))
    return shortest[: sum(1 for _ in takewhile(bool, same))]


def _signature(node: FootprintNode) -> Signature:
    return node.kind, tuple(sorted(_signature(child) for child in node.children.values()))


def _renamed(path: str, names: Mapping[str, str]) -> str:
    parts = path.split("/")
    return "/".join(names.get("/".join(parts[: number + 1]), part) for number, part in enumerate(parts))
