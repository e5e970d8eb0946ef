"""Which family the features of an API are counted by: see `families` for what each counts."""

from __future__ import annotations

from collections.abc import Mapping

_NAMES = {
    "constant": """reshape expand_dims squeeze shape size rank identity stop_gradient ensure_shape is_tensor
        debugging.assert_equal debugging.assert_shapes""",
    "elementwise": """math.add math.subtract math.multiply math.divide math.truediv math.exp math.log math.log1p math.sqrt
        math.rsqrt math.square math.abs math.pow math.maximum math.minimum math.negative math.sign math.round math.floor
        math.ceil math.sin math.cos math.tanh math.sigmoid math.softplus math.erf math.equal math.not_equal math.greater
        math.greater_equal math.less math.less_equal math.logical_and math.logical_or math.logical_not
        math.divide_no_nan math.squared_difference math.add_n math.floormod math.is_nan math.reciprocal math.expm1
        math.multiply_no_nan math.xdivy math.floordiv
        nn.relu nn.relu6 nn.elu nn.selu nn.leaky_relu nn.gelu nn.silu nn.dropout nn.bias_add clip_by_value
        where cast zeros_like ones_like image.adjust_brightness image.convert_image_dtype image.flip_left_right
        image.flip_up_down image.random_flip_left_right image.random_flip_up_down image.random_brightness bitcast
        math.real math.imag math.polyval nn.softsign dtypes.saturate_cast image.adjust_gamma Variable.assign
        Variable.assign_add Variable.assign_sub random.shuffle""",
    "reduction": """math.reduce_sum math.reduce_mean math.reduce_max math.reduce_min math.reduce_prod math.reduce_any
        math.reduce_all math.argmax math.argmin nn.l2_loss math.count_nonzero image.rgb_to_grayscale norm
        math.zero_fraction linalg.trace linalg.diag_part linalg.global_norm""",
    "normalisation": """nn.softmax nn.log_softmax math.reduce_std math.reduce_variance math.reduce_logsumexp
        math.l2_normalize nn.moments nn.softmax_cross_entropy_with_logits nn.sparse_softmax_cross_entropy_with_logits
        nn.sigmoid_cross_entropy_with_logits nn.batch_normalization math.cumsum math.cumprod
        image.per_image_standardization image.adjust_contrast image.random_contrast image.adjust_saturation
        image.random_saturation image.adjust_hue image.random_hue image.rgb_to_hsv clip_by_norm clip_by_global_norm
        math.unsorted_segment_sum math.segment_sum math.segment_mean math.confusion_matrix math.bincount unique
        image.ssim image.psnr nn.local_response_normalization""",
    "copy": """concat stack unstack split transpose reverse linalg.matrix_transpose boolean_mask
        convert_to_tensor constant Variable Tensor.numpy image.transpose image.rot90 roll meshgrid
        tensor_scatter_nd_update scatter_nd broadcast_to data.Dataset.from_tensor_slices linalg.diag
        data.Dataset.from_tensors linalg.band_part nn.space_to_depth nn.depth_to_space""",
    "tile": "tile",
    "repeat": "repeat",
    "pad": "pad",
    "created": """zeros ones fill eye range linspace random.normal random.uniform random.truncated_normal
        random.stateless_normal random.stateless_uniform""",
    "one_hot": "one_hot",
    "matmul": "linalg.matmul",
    "matvec": "linalg.matvec",
    "tensordot": "tensordot",
    "einsum": "einsum",
    "decomposition": """linalg.inv linalg.det linalg.cholesky linalg.svd linalg.qr linalg.solve linalg.eigh linalg.pinv
        linalg.lstsq""",
    "gather": "gather nn.embedding_lookup",
    "gather_nd": "gather_nd",
    "ordering": "sort argsort math.top_k math.in_top_k",
    "fourier": "signal.fft signal.rfft signal.ifft",
    "convolution": "nn.conv2d nn.depthwise_conv2d",
    "convolution_1d": "nn.conv1d",
    "pooling": "nn.max_pool2d nn.avg_pool2d nn.max_pool",
    "resized": "image.resize image.resize_with_pad",
    "cropped": """image.crop_to_bounding_box image.random_crop image.central_crop
        image.resize_with_crop_or_pad slice""",
}  # fmt: skip

_KERAS = {
    "normalisation": """losses.MeanSquaredError.__call__ losses.MeanAbsoluteError.__call__
        losses.BinaryCrossentropy.__call__ losses.CategoricalCrossentropy.__call__
        losses.SparseCategoricalCrossentropy.__call__ losses.Huber.__call__ metrics.mean_squared_error
        metrics.mean_absolute_error metrics.binary_crossentropy metrics.categorical_crossentropy
        metrics.sparse_categorical_crossentropy losses.huber ops.normalize""",
    "elementwise": "random.dropout",
    "one_hot": "utils.to_categorical",
}

_OTHERWISE = {
    "absolute": "math.abs", "power": "math.pow", "concatenate": "concat", "mod": "math.floormod", "flip": "reverse",
    "sum": "math.reduce_sum", "mean": "math.reduce_mean", "max": "math.reduce_max", "min": "math.reduce_min",
    "prod": "math.reduce_prod", "any": "math.reduce_any", "all": "math.reduce_all", "std": "math.reduce_std",
    "var": "math.reduce_variance", "logsumexp": "math.reduce_logsumexp", "clip": "clip_by_value", "take": "gather",
    "arange": "range", "full": "fill", "average_pool": "nn.avg_pool2d", "conv": "nn.conv2d", "swapaxes": "transpose",
    "moveaxis": "transpose", "true_divide": "math.divide", "convert_to_numpy": "Tensor.numpy",
}  # fmt: skip
"""Operations of `keras.ops` that TensorFlow calls otherwise."""

_TENSORFLOW = {f"tensorflow.{name}": family for family, names in _NAMES.items() for name in names.split()}
_SHORT = {name.rpartition(".")[2]: name for name in reversed(_TENSORFLOW)}
_ALIKE = {
    "keras.ops": """abs add argmax argmin argsort batch_normalization bincount broadcast_to cast ceil cholesky
        convert_to_tensor cos count_nonzero cumprod cumsum depth_to_space det diag divide divide_no_nan eigh
        einsum elu equal erf exp expand_dims expm1 eye fft floor gelu greater greater_equal identity imag
        in_top_k inv is_tensor leaky_relu less less_equal linspace log log1p log_softmax logical_and logical_not
        logical_or lstsq matmul max_pool maximum meshgrid minimum moments multiply negative norm not_equal numpy
        one_hot ones ones_like pad pinv psnr qr real reciprocal relu relu6 repeat reshape rfft roll rot90 round
        rsqrt saturate_cast segment_sum selu shape sigmoid sign silu sin size slice softmax softplus softsign
        solve sort space_to_depth split sqrt square squeeze stack stop_gradient subtract svd tanh tensordot tile
        top_k trace transpose unique unstack where zeros zeros_like""",
    "keras.activations": """elu gelu leaky_relu log_softmax relu relu6 selu sigmoid silu softmax softplus softsign tanh""",
}
"""Those that it calls the same."""
KERAS_OPS: Mapping[str, str] = {
    **{f"{module}.{short}": _SHORT[short] for module, names in _ALIKE.items() for short in names.split()},
    **{f"keras.ops.{short}": f"tensorflow.{name}" for short, name in _OTHERWISE.items()},
    **{
        f"keras.random.{short}": f"tensorflow.random.{short}"
        for short in ("normal", "uniform", "truncated_normal")
    },
}
"""What does the same in TensorFlow."""

SAME_WORK: Mapping[str, str] = {"tensorflow.constant": "tensorflow.convert_to_tensor"}
"""APIs that do what a calibrated one does, and are none that a loan of their family would fit."""

FAMILY_OF: Mapping[str, str] = {
    **_TENSORFLOW,
    **{f"keras.{name}": family for family, names in _KERAS.items() for name in names.split()},
    **{name: _TENSORFLOW[other] for name, other in KERAS_OPS.items()},
}
"""The family of each API, by canonical name."""
