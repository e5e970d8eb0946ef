"""The layers that a calibration runs, at the sizes that small and middling models have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from energy_measure.calibration.tensors import Asked, f, i

LAYER_ARGUMENTS: Mapping[str, dict[str, Any]] = {
    "Dropout": {"rate": 0.3},
    "Rescaling": {"scale": 0.5},
    "AveragePooling2D": {"pool_size": 2},
    "AveragePooling1D": {"pool_size": 2},
}
"""What these layers must be given."""


def layer_points() -> Iterator[Asked]:
    """Every layer that is calibrated."""
    for rows, inner, units in (
        (32, 32, 16),
        (64, 128, 256),
        (32, 784, 128),
        (128, 1024, 512),
        (256, 256, 10),
        (16, 2048, 1024),
    ):
        yield "Dense", [f(rows, inner)], {"units": units}, False
    for rows, length, inner, units in ((8, 16, 32, 32), (16, 64, 64, 256), (32, 128, 256, 64)):
        yield "Dense", [f(rows, length, inner)], {"units": units}, False
    for batch, side, channels, filters, window, steps in (
        (16, 16, 1, 8, 3, 1), (32, 28, 1, 32, 3, 1), (32, 32, 3, 32, 3, 1), (32, 16, 32, 64, 3, 1),
        (16, 14, 64, 128, 3, 1), (16, 32, 16, 32, 5, 2), (8, 64, 3, 16, 7, 2), (32, 8, 64, 64, 3, 1),
        (32, 32, 16, 16, 3, 1), (16, 48, 8, 16, 3, 2), (32, 12, 16, 8, 5, 1),
    ):  # fmt: skip
        yield "Conv2D", [f(batch, side, side, channels)], {
            "filters": filters, "kernel_size": window, "strides": steps, "padding": "same",
        }, False  # fmt: skip
    for batch, side, channels, filters in (
        (16, 8, 16, 16),
        (32, 16, 32, 64),
        (16, 14, 128, 64),
        (16, 28, 64, 128),
    ):
        yield "Conv2D", [f(batch, side, side, channels)], {"filters": filters, "kernel_size": 1}, False
    for batch, length, channels, filters, window in (
        (16, 32, 8, 16, 3),
        (32, 128, 32, 64, 5),
        (32, 256, 64, 64, 3),
        (16, 500, 1, 32, 7),
        (32, 60, 32, 48, 5),
    ):
        yield "Conv1D", [f(batch, length, channels)], {"filters": filters, "kernel_size": window}, False
    for batch, side, channels, filters in (
        (16, 7, 32, 16),
        (16, 14, 64, 32),
        (16, 14, 16, 1),
        (8, 28, 32, 32),
    ):
        yield "Conv2DTranspose", [f(batch, side, side, channels)], {
            "filters": filters, "kernel_size": 3, "strides": 2, "padding": "same",
        }, False  # fmt: skip
    for batch, side, channels in ((16, 8, 16), (32, 16, 32), (16, 28, 64)):
        yield (
            "DepthwiseConv2D",
            [f(batch, side, side, channels)],
            {"kernel_size": 3, "padding": "same"},
            False,
        )
    for batch, side, channels in ((16, 8, 8), (32, 28, 16), (32, 32, 64)):
        image = [f(batch, side, side, channels)]
        for name in (
            "MaxPooling2D", "AveragePooling2D", "GlobalAveragePooling2D", "GlobalMaxPooling2D", "BatchNormalization",
            "LayerNormalization", "Dropout", "UpSampling2D", "ZeroPadding2D", "Rescaling",
        ):  # fmt: skip
            yield name, image, dict(LAYER_ARGUMENTS.get(name, {})), False
        for activation in ("relu", "tanh", "sigmoid", "gelu", "silu", "elu"):
            yield "Activation", image, {"activation": activation}, False
        for name in ("Add", "Concatenate"):
            yield name, image * 2, {}, True
    for rows, width in ((32, 64), (128, 1024)):
        yield "BatchNormalization", [f(rows, width)], {}, False
        yield "Dropout", [f(rows, width)], {"rate": 0.3}, False
        yield "Activation", [f(rows, width)], {"activation": "relu"}, False
    for rows, width in ((32, 10), (256, 100), (256, 2000)):
        yield "Activation", [f(rows, width)], {"activation": "softmax"}, False
    for batch, length, width in ((16, 16, 32), (32, 64, 64), (32, 128, 128)):
        for name in (
            "MaxPooling1D",
            "AveragePooling1D",
            "GlobalAveragePooling1D",
            "GlobalMaxPooling1D",
            "LayerNormalization",
        ):
            yield name, [f(batch, length, width)], dict(LAYER_ARGUMENTS.get(name, {})), False
    for batch, side in ((16, 32), (32, 64), (16, 128)):
        photographs = [f(batch, side, side, 3)]
        yield "RandomFlip", photographs, {}, False
        yield "RandomRotation", photographs, {"factor": 0.1}, False
        yield "RandomContrast", photographs, {"factor": 0.2}, False
        yield "Resizing", photographs, {"height": 96, "width": 96}, False
    yield "Flatten", [f(32, 16, 16, 8)], {}, False
    yield "Flatten", [f(32, 32, 32, 32)], {}, False
    for batch, length, words, width in (
        (16, 20, 500, 16),
        (32, 100, 5000, 64),
        (32, 100, 20000, 128),
        (64, 200, 2000, 32),
        (64, 80, 6000, 16),
    ):
        yield "Embedding", [i(words, batch, length)], {"input_dim": words, "output_dim": width}, False
    for name in ("LSTM", "GRU", "SimpleRNN"):
        for batch, length, width, units in (
            (8, 8, 16, 16),
            (32, 20, 32, 64),
            (32, 50, 64, 32),
            (16, 30, 64, 128),
            (32, 24, 8, 32),
            (64, 12, 24, 48),
        ):
            yield name, [f(batch, length, width)], {"units": units, "return_sequences": length == 20}, False
    for batch, length, width, heads, depth in (
        (8, 16, 32, 2, 16),
        (16, 64, 64, 4, 16),
        (16, 128, 64, 2, 64),
        (32, 32, 128, 8, 16),
    ):
        yield (
            "MultiHeadAttention",
            [f(batch, length, width)] * 2,
            {"num_heads": heads, "key_dim": depth},
            False,
        )
