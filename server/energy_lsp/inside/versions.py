"""Two versions of a model, layer by layer: before and after, added and gone, and how alike their footprints are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from energy_data.model import Part
from energy_lsp.inside.precision import similarity, total_variation


@dataclass(frozen=True, slots=True)
class LayerChange:
    """A layer of two versions, all passes together; None where a version does not have it."""

    path: str
    before: float | None
    after: float | None

    @property
    def difference(self) -> float:
        """Joules that the version after has more."""
        return (self.after or 0.0) - (self.before or 0.0)

    @property
    def state(self) -> str:
        """`added`, `gone` or `both`."""
        return "added" if self.before is None else "gone" if self.after is None else "both"


@dataclass(frozen=True, slots=True)
class VersionChange:
    """What differs between two versions."""

    layers: Sequence[LayerChange]
    """The greatest difference first."""
    correlation: float
    """Pearson's, over the union of layers."""
    error_difference: float
    """Mean difference of the layers' shares, 0 to 1."""
    variation: float
    """Part of the energy that is at other layers."""


def compare_versions(before: Sequence[Part], after: Sequence[Part]) -> VersionChange:
    """Compare by path; a model's own name, where each has one, does not count."""
    one, other = footprint(before), footprint(after)
    names = {*one, *other}
    layers = [LayerChange(name, one.get(name), other.get(name)) for name in names]
    sums = sum(one.values()) or 1.0, sum(other.values()) or 1.0
    shares = [abs(one.get(name, 0.0) / sums[0] - other.get(name, 0.0) / sums[1]) for name in names]
    return VersionChange(
        sorted(layers, key=lambda layer: (-abs(layer.difference), layer.path)),
        similarity(one, other),
        fmean(shares) if shares else 0.0,
        total_variation(one, other),
    )


def footprint(parts: Sequence[Part]) -> dict[str, float]:
    """Joules by path, without the name of the model if all layers are inside of one."""
    layered = {
        part.path.split("/")[0] for part in parts if part.direction in ("forward", "backward") and part.line
    }
    root = layered.pop() if len(layered) == 1 else ""
    found: dict[str, float] = {}
    for part in parts:
        path = part.path.removeprefix(f"{root}/") if root else part.path
        found[path] = found.get(path, 0.0) + part.joules
    return found
