"""Parameters of the APIs in patterns: with them `f(x, 0)` and `f(x, axis=0)` are the same call."""

from __future__ import annotations

import functools
from collections.abc import Mapping

Signature = Mapping[str, str | None]
"""Parameter →  the text of its default, None where it has none."""

_REDUCE = "input_tensor, axis=None, keepdims=False, name=None"
_UNARY = "x, name=None"
_BINARY = "x, y, name=None"
SIGNATURES: Mapping[str, str] = {
    "tf.abs": _UNARY,
    "tf.add": _BINARY,
    "tf.argmax": "input, axis=None, output_type=tf.int64, name=None",
    "tf.argsort": "values, axis=-1, direction='ASCENDING', stable=False, name=None",
    "tf.boolean_mask": "tensor, mask, axis=None, name='boolean_mask'",
    "tf.cast": "x, dtype, name=None",
    "tf.concat": "values, axis, name='concat'",
    "tf.constant": "value, dtype=None, shape=None, name='Const'",
    "tf.convert_to_tensor": "value, dtype=None, dtype_hint=None, name=None",
    "tf.data.Dataset.batch": "self, batch_size, drop_remainder=False, num_parallel_calls=None, "
    "deterministic=None, name=None",
    "tf.data.Dataset.cache": "self, filename='', name=None",
    "tf.data.Dataset.filter": "self, predicate, name=None",
    "tf.data.Dataset.map": "self, map_func, num_parallel_calls=None, deterministic=None, "
    "synchronous=None, use_unbounded_threadpool=False, name=None",
    "tf.data.Dataset.shuffle": "self, buffer_size, seed=None, reshuffle_each_iteration=True, name=None",
    "tf.data.Dataset.unbatch": "self, name=None",
    "tf.divide": _BINARY,
    "tf.eye": "num_rows, num_columns=None, batch_shape=None, dtype=tf.float32, name=None",
    "tf.exp": _UNARY,
    "tf.expand_dims": "input, axis, name=None",
    "tf.fill": "dims, value, name=None, layout=None",
    "tf.image.convert_image_dtype": "image, dtype, saturate=False, name=None",
    "tf.image.flip_left_right": "image",
    "tf.image.flip_up_down": "image",
    "tf.image.resize": "images, size, method='bilinear', preserve_aspect_ratio=False, "
    "antialias=False, name=None",
    "tf.image.rgb_to_grayscale": "images, name=None",
    "tf.linalg.diag": "diagonal, name='diag', k=0, num_rows=-1, "
    " num_cols=-1, padding_value=0, align='RIGHT_LEFT'",
    "tf.linalg.diag_part": "input, name='diag_part', k=0, padding_value=0, align='RIGHT_LEFT'",
    "tf.linalg.eigh": "tensor, name=None",
    "tf.linalg.inv": "input, adjoint=False, name=None",
    "tf.linalg.matvec": "a, b, transpose_a=False, adjoint_a=False, a_is_sparse=False, "
    "b_is_sparse=False, name=None",
    "tf.linalg.solve": "matrix, rhs, adjoint=False, name=None",
    "tf.linalg.svd": "tensor, full_matrices=False, compute_uv=True, name=None",
    "tf.linalg.trace": "x, name=None",
    "tf.map_fn": "fn, elems, dtype=None, parallel_iterations=None, back_prop=True, swap_memory=False, "
    "infer_shape=True, name=None, fn_output_signature=None",
    "tf.math.count_nonzero": "input, axis=None, keepdims=None, dtype=tf.int64, name=None",
    "tf.math.log": _UNARY,
    "tf.math.top_k": "input, k=1, sorted=True, index_type=tf.int32, name=None",
    "tf.matmul": "a, b, transpose_a=False, transpose_b=False, adjoint_a=False, adjoint_b=False, "
    "a_is_sparse=False, b_is_sparse=False, output_type=None, grad_a=False, grad_b=False, name=None",
    "tf.multiply": _BINARY,
    "tf.negative": _UNARY,
    "tf.nn.sigmoid": _UNARY,
    "tf.nn.softmax": "logits, axis=None, name=None",
    "tf.one_hot": "indices, depth, on_value=None, off_value=None, axis=None, dtype=None, name=None",
    "tf.ones": "shape, dtype=tf.float32, name=None, layout=None",
    "tf.pow": _BINARY,
    "tf.math.reciprocal": _UNARY,
    "tf.reduce_any": _REDUCE,
    "tf.reduce_max": _REDUCE,
    "tf.reduce_mean": _REDUCE,
    "tf.reduce_sum": _REDUCE,
    "tf.reshape": "tensor, shape, name=None",
    "tf.shape": "input, out_type=None, name=None",
    "tf.signal.fft": "input, name=None",
    "tf.size": "input, out_type=None, name=None",
    "tf.sort": "values, axis=-1, direction='ASCENDING', name=None",
    "tf.sqrt": _UNARY,
    "tf.square": _UNARY,
    "tf.stack": "values, axis=0, name='stack'",
    "tf.subtract": _BINARY,
    "tf.tile": "input, multiples, name=None",
    "tf.transpose": "a, perm=None, conjugate=False, name='transpose'",
    "tf.Variable.assign": "self, value, use_locking=False, name=None, read_value=True",
    "tf.where": "condition, x=None, y=None, name=None",
    "tf.zeros": "shape, dtype=tf.float32, name=None, layout=None",
}
OPERATORS: Mapping[str, tuple[str, ...]] = {
    "+": ("tf.add",),
    "-": ("tf.subtract",),
    "*": ("tf.multiply",),
    "/": ("tf.divide", "tf.math.truediv"),
    "**": ("tf.pow",),
    "@": ("tf.matmul",),
    ">": ("tf.greater",),
}
"""What an operator between tensors is called when it is written as a function."""


@functools.cache
def parse(text: str) -> Signature:
    """Split `x, axis=None` into its parameters."""
    parameters = (part.strip().partition("=") for part in text.split(","))
    return {name: default if equals else None for name, equals, default in parameters}
