"""Names of positional parameters, for the calls and layers whose constants decide what they cost."""

from __future__ import annotations

from collections.abc import Mapping

LAYERS: Mapping[str, tuple[str, ...]] = {
    "Dense": ("units", "activation", "use_bias"),
    "Conv1D": ("filters", "kernel_size", "strides", "padding"),
    "Conv2D": ("filters", "kernel_size", "strides", "padding"),
    "Conv2DTranspose": ("filters", "kernel_size", "strides", "padding"),
    "SeparableConv2D": ("filters", "kernel_size", "strides", "padding"),
    "DepthwiseConv2D": ("kernel_size", "strides", "padding", "depth_multiplier"),
    "MaxPooling1D": ("pool_size", "strides", "padding"),
    "MaxPooling2D": ("pool_size", "strides", "padding"),
    "AveragePooling1D": ("pool_size", "strides", "padding"),
    "AveragePooling2D": ("pool_size", "strides", "padding"),
    "Dropout": ("rate",),
    "Activation": ("activation",),
    "Embedding": ("input_dim", "output_dim"),
    "LSTM": ("units",),
    "GRU": ("units",),
    "SimpleRNN": ("units",),
    "MultiHeadAttention": ("num_heads", "key_dim"),
    "Reshape": ("target_shape",),
    "RepeatVector": ("n",),
    "Permute": ("dims",),
    "UpSampling2D": ("size",),
    "ZeroPadding2D": ("padding",),
    "Rescaling": ("scale", "offset"),
    "Bidirectional": ("layer",),
    "TimeDistributed": ("layer",),
    "Input": ("shape", "batch_size", "dtype"),
}

CALLS: Mapping[str, tuple[str, ...]] = {
    "fit": ("x", "y", "batch_size", "epochs", "verbose", "callbacks", "validation_split", "validation_data"),
    "evaluate": ("x", "y", "batch_size"),
    "predict": ("x", "batch_size"),
    "compile": ("optimizer", "loss"),
    "train_on_batch": ("x", "y"),
    "test_on_batch": ("x", "y"),
    "predict_on_batch": ("x",),
}

CONSTANTS: Mapping[str, tuple[str, ...]] = {
    "tensorflow.zeros": ("shape", "dtype"),
    "tensorflow.ones": ("shape", "dtype"),
    "tensorflow.fill": ("dims", "value"),
    "tensorflow.eye": ("num_rows", "num_columns"),
    "tensorflow.range": ("start", "limit", "delta"),
    "tensorflow.linspace": ("start", "stop", "num"),
    "tensorflow.random.normal": ("shape", "mean", "stddev", "dtype"),
    "tensorflow.random.uniform": ("shape", "minval", "maxval", "dtype"),
    "tensorflow.random.truncated_normal": ("shape", "mean", "stddev", "dtype"),
    "tensorflow.random.stateless_normal": ("shape", "seed"),
    "tensorflow.random.stateless_uniform": ("shape", "seed"),
    "tensorflow.reshape": ("tensor", "shape"),
    "tensorflow.tile": ("input", "multiples"),
    "tensorflow.repeat": ("input", "repeats", "axis"),
    "tensorflow.pad": ("tensor", "paddings"),
    "tensorflow.one_hot": ("indices", "depth"),
    "tensorflow.image.resize": ("images", "size"),
    "tensorflow.transpose": ("a", "perm"),
    "tensorflow.expand_dims": ("input", "axis"),
    "tensorflow.concat": ("values", "axis"),
    "tensorflow.stack": ("values", "axis"),
    "tensorflow.cast": ("x", "dtype"),
    "tensorflow.sort": ("values", "axis"),
    "tensorflow.tensordot": ("a", "b", "axes"),
    "tensorflow.math.argmax": ("input", "axis"),
    "tensorflow.math.argmin": ("input", "axis"),
    "tensorflow.math.top_k": ("input", "k"),
    "tensorflow.nn.softmax": ("logits", "axis"),
    "tensorflow.nn.conv2d": ("input", "filters", "strides", "padding"),
    "tensorflow.nn.max_pool2d": ("input", "ksize", "strides", "padding"),
    "tensorflow.nn.avg_pool2d": ("input", "ksize", "strides", "padding"),
    **{
        f"tensorflow.math.reduce_{name}": ("input_tensor", "axis", "keepdims")
        for name in ("sum", "mean", "max", "min", "prod", "any", "all", "std", "variance", "logsumexp")
    },
}

DATASETS: Mapping[str, tuple[tuple[tuple[str, tuple[int, ...]], ...], ...]] = {
    "keras.datasets.mnist.load_data": (
        (("uint8", (60000, 28, 28)), ("uint8", (60000,))),
        (("uint8", (10000, 28, 28)), ("uint8", (10000,))),
    ),
    "keras.datasets.fashion_mnist.load_data": (
        (("uint8", (60000, 28, 28)), ("uint8", (60000,))),
        (("uint8", (10000, 28, 28)), ("uint8", (10000,))),
    ),
    **{
        f"keras.datasets.{name}.load_data": (
            (("uint8", (50000, 32, 32, 3)), ("uint8", (50000, 1))),
            (("uint8", (10000, 32, 32, 3)), ("uint8", (10000, 1))),
        )
        for name in ("cifar10", "cifar100")
    },
    "keras.datasets.boston_housing.load_data": (
        (("float64", (404, 13)), ("float64", (404,))),
        (("float64", (102, 13)), ("float64", (102,))),
    ),
    "keras.datasets.california_housing.load_data": (
        (("float32", (16512, 8)), ("float32", (16512,))),
        (("float32", (4128, 8)), ("float32", (4128,))),
    ),
}
"""What `load_data` gives: the tensors for training, and those for testing."""
