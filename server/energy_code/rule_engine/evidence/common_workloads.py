"""Workloads that several rules share: small models, images to be made smaller, functions to be traced."""

from __future__ import annotations

from collections.abc import Mapping

from energy_code.rule_engine.evidence.workload import Array, Workload

Sizes = tuple[int, int, int]

_PREDICTING = """
def model():
    keras.utils.set_random_seed(1)
    return keras.Sequential([keras.Input((32,)), keras.layers.Dense(64, "relu"), keras.layers.Dense(8)])
"""
_TRAINED = """
def model(**options):
    keras.utils.set_random_seed(1)
    made = keras.Sequential([keras.Input((16,)), keras.layers.Dense(32, "relu"), keras.layers.Dense(1)])
    made.compile(loss="mse", optimizer="sgd", **options)
    return made
"""
ROWS = "rng.normal(size=(n, 32)).astype('float32')"
"""Rows that the predicting model takes."""


def predicting(
    before: str, inputs: Mapping[str, str], sizes: Sizes, after: str | None = None, *, repeats: int = 1
) -> Workload:
    """A small dense model, `model`, predicts; sizes count rows."""
    return Workload(
        before,
        {"model": "model()", **inputs},
        {"n": sizes},
        after=after,
        tolerance=1e-4,
        absolute=1e-5,
        setup=_PREDICTING,
        graph=False,
        annotations={"model": "keras.Sequential"},
        vary=False,
        repeats=repeats,
    )


def training(
    before: str,
    sizes: Sizes,
    after: str | None = None,
    *,
    one: str = "model()",
    other: str = "model()",
    setup: str = "",
) -> Workload:
    """Two small dense models that begin alike, `one` for the code before and `other` for the code after.

    Rows are `x`, targets `y`; models made with `model(…)` are compiled with what is given there.
    """
    return Workload(
        before,
        {
            "one": one,
            "other": other,
            "x": "rng.normal(size=(n, 16)).astype('float32')",
            "y": "rng.normal(size=(n, 1)).astype('float32')",
        },
        {"n": sizes},
        after=after,
        tolerance=1e-3,
        setup=_TRAINED + setup,
        graph=False,
        annotations={"one": "keras.Sequential"},
        vary=False,
    )


def resizing(before: str) -> Workload:
    """An `image` with floating-point pixels is worked on and resized to 64 × 64."""
    return Workload(
        before,
        {"image": Array("n", "n", 3, values="unit")},
        {"n": (64, 256, 1024)},
        tolerance=1e-4,
        absolute=1e-4,
        gradients=("image",),
        vary=False,
    )


def tracing(before: str, after: str, x: str, made: str, setup: str) -> Workload:
    """Functions traced anew before; `made`, traced once, after."""
    return Workload(
        before,
        {"x": x, "made": made},
        {"n": (100, 10_000, 1_000_000)},
        after=after,
        setup=setup,
        graph=False,
        vary=False,
    )
