"""What both sides of a rule run on: inputs at three sizes and the code before, as text to be run anywhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Size = Literal["small", "medium", "large"]
SIZES: tuple[Size, ...] = ("small", "medium", "large")

Values = Literal["normal", "positive", "unit", "spd"]
"""`positive`: 0.1 to 10; `unit`: 0 to 1; `spd`: symmetric positive definite matrices."""


Odd = Literal["nan", "infinite", "huge", "ties", "empty"]
"""Inputs for which the sides of a rule may differ: not a number, ±∞, 1e4, equal numbers (gradients), none."""


class Array:
    """One input: its shape in numbers and size letters, its type, its values, and what holds it."""

    __slots__ = ("below", "count", "dtype", "kind", "shape", "values")

    def __init__(
        self,
        *shape: int | str,
        dtype: str = "float32",
        values: Values = "normal",
        below: int | str | None = None,
        kind: Literal["tensor", "variable", "numpy"] = "tensor",
        count: int | None = None,
    ) -> None:
        self.shape = shape
        self.dtype = dtype
        self.values: Values = values
        self.below = below
        """Integers from 0 up to this bound."""
        self.kind = kind
        self.count = count
        """A Python list of so many such arrays instead of one."""

    @property
    def annotation(self) -> str:
        """The type that the generated function declares, the evidence that rules on operators need."""
        one = {"tensor": "tf.Tensor", "variable": "tf.Variable", "numpy": "np.ndarray"}[self.kind]
        return one if self.count is None else f"list[{one}]"

    @property
    def expression(self) -> str:
        """Python that makes the input from `rng` and the size letters."""
        one = self._holder(self._values())
        return one if self.count is None else f"[{one} for _ in range({self.count})]"

    def _values(self) -> str:
        shape = "(" + "".join(f"{side}, " for side in self.shape) + ")"
        if self.below is not None:
            return f"rng.integers(0, {self.below}, size={shape})"
        if self.dtype == "bool":
            return f"rng.random(size={shape}) > 0.5"
        if self.values == "positive":
            return f"rng.uniform(0.1, 10.0, size={shape})"
        if self.values == "unit":
            return f"rng.random(size={shape})"
        if self.values == "spd":
            return (
                f"(lambda a: a @ np.swapaxes(a, -1, -2) + len(a) * np.eye(len(a)))(rng.normal(size={shape}))"
            )
        return f"rng.normal(size={shape})"

    def _holder(self, values: str) -> str:
        if self.kind == "numpy":
            return f"np.asarray({values}).astype({self.dtype!r})"
        maker = "tf.constant" if self.kind == "tensor" else "tf.Variable"
        return f"{maker}(np.asarray({values}), dtype={self.dtype!r})"


@dataclass(eq=False)
class Workload:
    """Code before, its inputs, and how close the two sides must come."""

    before: str
    """An expression, or the body of a function that ends in `return`."""
    inputs: Mapping[str, Array | str]
    """Name → array, or Python text that makes the input."""
    sizes: Mapping[str, tuple[int, int, int]]
    """Size letter → its value for small, medium and large inputs."""
    after: str | None = None
    """Only for rules without a fix; otherwise the rule's own fix writes this side."""
    setup: str = ""
    """Module-level code that both sides share, imports apart."""
    tolerance: float = 0.0
    """Greatest relative difference of outputs."""
    absolute: float = 0.0
    """Difference below which outputs count as equal whatever their size."""
    gradients: tuple[str, ...] = ()
    """Inputs with respect to which gradients exist and must be equal."""
    gradient_tolerance: float = 1e-4
    graph: bool = True
    """Whether both sides also run inside `tf.function`."""
    annotations: Mapping[str, str] = field(default_factory=dict)
    """Types of inputs given as text, where the rule needs to see them."""
    vary: bool = True
    """Whether tests may draw other shapes and values (off where a size is part of the meaning)."""
    unequal: Mapping[Odd, str] = field(default_factory=dict)
    """Inputs for which the sides differ, and the words in which the rule's page says so; never of a safe rule."""
    repeats: int = 1
    """How many of the calls that the rule changes the code before makes: the evidence of one call is so many times less."""
    smallest: int = 0
    """The least value of a size letter for which the code before makes sense."""

    def sizes_at(self, size: Size) -> dict[str, int]:
        """The size letters' values for one of the three sizes."""
        return {letter: values[SIZES.index(size)] for letter, values in self.sizes.items()}
