"""The calls that a calibration runs: the most used APIs, each at three sizes or more and in other shapes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from energy_measure.calibration.tensors import Asked, f, i

SIDES = (16, 256, 1400)
"""Side of the square matrices most calls are given: 1 KB, 256 KB, 7.8 MB."""
SHAPED = ((64, 1000), (32, 28, 28, 8))
"""Other shapes, of sizes in between."""

UNARY = [
    "math.exp",
    "math.log",
    "math.sqrt",
    "math.square",
    "math.abs",
    "math.negative",
    "math.sign",
    "math.round",
    "math.floor",
    "math.sin",
    "math.cos",
    "math.tanh",
    "math.sigmoid",
    "math.softplus",
    "math.erf",
    "math.reciprocal",
    "nn.relu",
    "nn.relu6",
    "nn.elu",
    "nn.selu",
    "nn.leaky_relu",
    "nn.gelu",
    "nn.silu",
    "zeros_like",
    "ones_like",
    "math.reduce_sum",
    "math.reduce_mean",
    "math.reduce_max",
    "math.reduce_min",
    "math.reduce_prod",
    "math.reduce_std",
    "math.reduce_variance",
    "math.reduce_logsumexp",
    "math.argmax",
    "math.argmin",
    "norm",
    "nn.l2_loss",
    "nn.softmax",
    "nn.log_softmax",
    "math.l2_normalize",
    "math.cumsum",
    "linalg.matrix_transpose",
    "sort",
    "argsort",
    "random.shuffle",
    "math.is_nan",
    "math.rsqrt",
    "math.log1p",
    "image.rgb_to_grayscale",
    "math.count_nonzero",
    "convert_to_tensor",
    "Variable",
]
BINARY = [
    "math.add",
    "math.subtract",
    "math.multiply",
    "math.divide",
    "math.maximum",
    "math.minimum",
    "math.pow",
    "math.equal",
    "math.greater",
    "math.less",
    "math.squared_difference",
    "math.divide_no_nan",
    "math.truediv",
    "math.not_equal",
    "math.floormod",
]
VIEWS = ["reshape", "expand_dims", "squeeze", "shape", "size", "identity", "stop_gradient"]
MADE = ["zeros", "ones", "random.normal", "random.uniform", "random.truncated_normal"]
LOSSES = [
    "losses.MeanSquaredError",
    "losses.MeanAbsoluteError",
    "losses.BinaryCrossentropy",
    "losses.CategoricalCrossentropy",
    "losses.Huber",
]
VIEW_ARGUMENTS: Mapping[str, dict[str, Any]] = {"reshape": {"shape": [-1]}, "expand_dims": {"axis": 0}}
AXIS = {"math.argmax", "math.argmin", "nn.softmax", "nn.log_softmax", "math.l2_normalize", "sort", "argsort"}


def call_points() -> Iterator[Asked]:
    """Every call that is calibrated."""
    for name in UNARY:
        if name == "image.rgb_to_grayscale":
            for side in (32, 128, 512):
                yield name, [f(side, side, 3)], {}, False
            continue
        arguments: dict[str, Any] = {"axis": -1} if name in AXIS else {}
        for side in SIDES:
            yield name, [f(side, side)], arguments, False
        yield (
            name,
            [f(*SHAPED[0])],
            arguments if name in AXIS or "reduce_" not in name else {"axis": 0},
            False,
        )
        if name not in ("linalg.matrix_transpose",):
            yield (
                name,
                [f(*SHAPED[1])],
                arguments if name in AXIS or "reduce_" not in name else {"axis": -1},
                False,
            )
    for name in BINARY:
        for side in SIDES:
            yield name, [f(side, side), f(side, side)], {}, False
        yield name, [f(256, 500), f(500)], {}, False
        yield name, [f(32, 28, 28, 8), f(8)], {}, False
    for name in VIEWS:
        for side in SIDES:
            yield name, [f(1, side, side)], dict(VIEW_ARGUMENTS.get(name, {})), False
    for name in MADE:
        for side in SIDES:
            yield name, [], {"shape": [side, side]}, False
    for side in SIDES:
        yield "fill", [], {"dims": [side, side], "value": 1.0}, False
        yield "eye", [], {"num_rows": side}, False
        yield "range", [], {"start": 0, "limit": side * side}, False
        yield "linspace", [], {"start": 0.0, "stop": 1.0, "num": side * side}, False
        square = f(side, side)
        yield "cast", [square], {"dtype": "int32"}, False
        yield "clip_by_value", [square], {"clip_value_min": -0.5, "clip_value_max": 0.5}, False
        yield "where", [("bool", (side, side), 0), square, square], {}, False
        yield "math.logical_and", [("bool", (side, side), 0), ("bool", (side, side), 0)], {}, False
        yield "nn.dropout", [square], {"rate": 0.5}, False
        yield "nn.bias_add", [square, f(side)], {}, False
        yield "math.add_n", [square, square], {}, True
        yield "concat", [square, square], {"axis": -1}, True
        yield "stack", [square, square], {}, True
        yield "unstack", [f(4, side, side)], {}, False
        yield "split", [f(side * 2, side)], {"num_or_size_splits": 2}, False
        yield "transpose", [square], {}, False
        yield "reverse", [square], {"axis": [0]}, False
        yield "tile", [square], {"multiples": [2, 1]}, False
        yield "repeat", [square], {"repeats": 2, "axis": 0}, False
        yield "pad", [square], {"paddings": [[1, 1], [2, 2]]}, False
        yield "boolean_mask", [square, ("bool", (side,), 0)], {}, False
        yield "broadcast_to", [square], {"shape": [2, side, side]}, False
        yield "roll", [square], {"shift": 1, "axis": 0}, False
        yield "slice", [square], {"begin": [0, 0], "size": [side // 2, side]}, False
        yield "gather", [f(side * 4, side), i(side, side)], {}, False
        yield "nn.embedding_lookup", [f(side * 4, side), i(side, side)], {}, False
        yield "gather_nd", [f(side, side), i(min(side, 16), side * 4, 2)], {}, False
        yield "one_hot", [i(10, side * 4)], {"depth": side}, False
        yield "tensor_scatter_nd_update", [square, i(side, 16, 1), f(16, side)], {}, False
        yield "math.top_k", [square], {"k": 5}, False
        yield (
            "nn.batch_normalization",
            [square, f(side), f(side), f(side), f(side)],
            {"variance_epsilon": 0.001},
            False,
        )
        yield "nn.moments", [square], {"axes": [0]}, False
        yield "nn.softmax_cross_entropy_with_logits", [square, square], {}, False
        yield "nn.sparse_softmax_cross_entropy_with_logits", [i(side, side), square], {}, False
        yield "nn.sigmoid_cross_entropy_with_logits", [square, square], {}, False
        yield "linalg.matvec", [square, f(side)], {}, False
        yield "math.reduce_any", [("bool", (side, side), 0)], {}, False
        yield "math.reduce_all", [("bool", (side, side), 0)], {}, False
        yield "unique", [i(100, side * 40)], {}, False
        yield "math.bincount", [i(100, side * 40)], {}, False
        yield "math.segment_sum", [square, ("sorted", (side,), 4)], {}, False
        yield "math.unsorted_segment_sum", [square, i(4, side)], {"num_segments": 4}, False
        for loss in LOSSES:
            yield f"{loss}.__call__", [square, square], {}, False
        yield "losses.SparseCategoricalCrossentropy.__call__", [i(min(side, 10), side), square], {}, False
        yield "transpose", [f(2, side // 2, side)], {"perm": [0, 2, 1]}, False
        yield "concat", [f(side, side // 2), f(side, side // 2)], {"axis": 0}, True
    for batch, side, channels in ((4, 16, 3), (8, 64, 3), (16, 128, 3), (1, 256, 3)):
        pictures = [f(batch, side, side, channels)]
        yield "image.resize", pictures, {"size": [side // 2, side // 2]}, False
        yield "image.resize", pictures, {"size": [side * 3 // 2, side * 3 // 2]}, False
        yield "image.flip_left_right", pictures, {}, False
        yield "image.random_flip_left_right", pictures, {}, False
        yield "image.adjust_brightness", pictures, {"delta": 0.1}, False
        yield "image.adjust_contrast", pictures, {"contrast_factor": 1.5}, False
        yield "image.per_image_standardization", pictures, {}, False
        yield "image.central_crop", pictures, {"central_fraction": 0.5}, False
        yield "image.crop_to_bounding_box", pictures, {
            "offset_height": 1, "offset_width": 1, "target_height": side // 2, "target_width": side // 2,
        }, False  # fmt: skip
        yield (
            "image.convert_image_dtype",
            [("uint8", (batch, side, side, 3), 255)],
            {"dtype": "float32"},
            False,
        )
        yield "image.adjust_saturation", pictures, {"saturation_factor": 1.5}, False
    for rows, inner, columns in (
        (16, 16, 16),
        (128, 128, 128),
        (512, 512, 512),
        (900, 900, 900),
        (32, 784, 128),
        (256, 64, 10),
    ):
        yield "linalg.matmul", [f(rows, inner), f(inner, columns)], {}, False
        if rows != 900:
            yield "tensordot", [f(rows, inner), f(inner, columns)], {"axes": 1}, False
            yield "einsum", [f(rows, inner), f(inner, columns)], {"equation": "ij,jk->ik"}, False
    for side in (16, 96, 256):
        for name in ("inv", "det", "cholesky", "qr", "svd"):
            if (name, side) != ("svd", 256):
                yield f"linalg.{name}", [("definite", (side, side), 0)], {}, False
        yield "linalg.solve", [("definite", (side, side), 0), f(side, 4)], {}, False
    yield "linalg.svd", [("definite", (160, 160), 0)], {}, False
    for batch, side, channels, filters, window in (
        (8, 16, 3, 8, 3), (16, 32, 8, 16, 3), (16, 64, 16, 16, 3), (8, 32, 16, 32, 5),
        (16, 28, 32, 64, 1), (16, 14, 64, 128, 3),
    ):  # fmt: skip
        image, kernel = f(batch, side, side, channels), f(window, window, channels, filters)
        yield "nn.conv2d", [image, kernel], {"strides": 1, "padding": "SAME"}, False
        yield "nn.depthwise_conv2d", [image, f(window, window, channels, 1)], {
            "strides": [1, 1, 1, 1], "padding": "SAME",
        }, False  # fmt: skip
        yield "nn.conv1d", [f(batch, side * 4, channels), f(window, channels, filters)], {
            "stride": 1, "padding": "SAME",
        }, False  # fmt: skip
        for name in ("nn.max_pool2d", "nn.avg_pool2d"):
            yield (
                name,
                [f(batch, side, side, channels)],
                {"ksize": 2, "strides": 2, "padding": "VALID"},
                False,
            )
    for length in (256, 4096, 65536):
        yield "signal.rfft", [f(16, length)], {}, False
        yield "signal.fft", [("complex64", (16, length), 0)], {}, False
