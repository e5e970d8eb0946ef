"""What every Keras layer gives, against Keras itself; and that no layer is forgotten."""

from __future__ import annotations

import pytest

from energy_data.prediction.layer_outputs import OUTPUTS, UnknownShapeError, output_shape
from energy_data.prediction.layers import RULES, UnknownLayerError, layer_cost
from energy_data.prediction.specs import LayerSpec, Tensor

IMAGE, SERIES, VOLUME, ROWS = (2, 13, 11, 6), (2, 9, 5), (2, 7, 6, 5, 4), (2, 8)
WITHOUT = {
    "Layer", "InputSpec", "Wrapper", "Lambda", "TFSMLayer", "JaxLayer", "FlaxLayer", "TorchModuleWrapper", "StackedRNNCells",
    "MelSpectrogram", "STFTSpectrogram", "MaxNumBoundingBoxes", "DenseFeatures",
}  # fmt: skip
"""Bases, and layers whose output a function or another program decides."""

SAME = [
    "ActivityRegularization", "AlphaDropout", "BatchNormalization", "Dropout", "ELU", "GaussianDropout", "GaussianNoise",
    "GroupNormalization", "Identity", "LayerNormalization", "LeakyReLU", "PReLU", "RMSNormalization", "ReLU", "Rescaling",
    "Softmax", "SpatialDropout2D", "UnitNormalization", "RandomFlip", "RandomRotation", "RandomZoom", "RandomTranslation",
    "RandomContrast", "RandomBrightness",
]  # fmt: skip
NEEDED = {
    "AlphaDropout": {"rate": 0.2}, "Dropout": {"rate": 0.2}, "GaussianDropout": {"rate": 0.2}, "Rescaling": {"scale": 2.0},
    "GaussianNoise": {"stddev": 0.1}, "GroupNormalization": {"groups": 2}, "SpatialDropout2D": {"rate": 0.2},
    "RandomRotation": {"factor": 0.1}, "RandomZoom": {"height_factor": 0.1}, "RandomContrast": {"factor": 0.1},
    "RandomTranslation": {"height_factor": 0.1, "width_factor": 0.1}, "RandomBrightness": {"factor": 0.1},
}  # fmt: skip

CASES = [
    *((name, NEEDED.get(name, {}), [IMAGE]) for name in SAME),
    ("Activation", {"activation": "tanh"}, [ROWS]),
    ("SpatialDropout1D", {"rate": 0.1}, [SERIES]),
    ("Masking", {}, [SERIES]),
    ("Dense", {"units": 7}, [ROWS]),
    ("Dense", {"units": 7}, [SERIES]),
    ("EinsumDense", {"equation": "abc,cd->abd", "output_shape": (None, 16)}, [SERIES]),
    ("EinsumDense", {"equation": "...x,xy->...y", "output_shape": 16}, [SERIES]),
    ("Conv1D", {"filters": 4, "kernel_size": 3, "padding": "causal", "dilation_rate": 2}, [SERIES]),
    ("Conv1D", {"filters": 4, "kernel_size": 3, "strides": 2}, [SERIES]),
    ("Conv2D", {"filters": 4, "kernel_size": 3, "strides": 2, "padding": "same"}, [IMAGE]),
    ("Conv2D", {"filters": 4, "kernel_size": (5, 2), "strides": (2, 3)}, [IMAGE]),
    ("Conv2D", {"filters": 4, "kernel_size": 3, "dilation_rate": 2}, [IMAGE]),
    ("Conv2D", {"filters": 4, "kernel_size": 3, "data_format": "channels_first"}, [IMAGE]),
    ("Conv3D", {"filters": 4, "kernel_size": 2}, [VOLUME]),
    ("DepthwiseConv1D", {"kernel_size": 3, "depth_multiplier": 2}, [SERIES]),
    ("DepthwiseConv2D", {"kernel_size": 3, "strides": 2, "padding": "same"}, [IMAGE]),
    ("SeparableConv1D", {"filters": 4, "kernel_size": 3}, [SERIES]),
    ("SeparableConv2D", {"filters": 4, "kernel_size": 3}, [IMAGE]),
    ("Conv1DTranspose", {"filters": 4, "kernel_size": 3, "strides": 2}, [SERIES]),
    ("Conv2DTranspose", {"filters": 4, "kernel_size": 3, "strides": 2, "padding": "same"}, [IMAGE]),
    ("Conv2DTranspose", {"filters": 4, "kernel_size": 5, "strides": 2}, [IMAGE]),
    ("Conv2DTranspose", {"filters": 4, "kernel_size": 5, "strides": 2, "padding": "same", "output_padding": 1}, [IMAGE]),
    ("Conv2DTranspose", {"filters": 4, "kernel_size": 2, "strides": 3}, [IMAGE]),
    ("Conv3DTranspose", {"filters": 4, "kernel_size": 3}, [VOLUME]),
    ("MaxPooling1D", {"pool_size": 2}, [SERIES]),
    ("AveragePooling1D", {"pool_size": 2, "padding": "same"}, [SERIES]),
    ("MaxPooling2D", {}, [IMAGE]),
    ("MaxPooling2D", {"pool_size": 3, "strides": 2, "padding": "same"}, [IMAGE]),
    ("AveragePooling2D", {"pool_size": (2, 3), "strides": 1}, [IMAGE]),
    ("MaxPooling3D", {}, [VOLUME]),
    ("AveragePooling3D", {"pool_size": 2}, [VOLUME]),
    ("GlobalAveragePooling1D", {}, [SERIES]),
    ("GlobalMaxPooling1D", {"keepdims": True}, [SERIES]),
    ("GlobalAveragePooling2D", {}, [IMAGE]),
    ("GlobalMaxPooling2D", {"keepdims": True}, [IMAGE]),
    ("GlobalAveragePooling3D", {}, [VOLUME]),
    ("GlobalMaxPooling3D", {}, [VOLUME]),
    ("Flatten", {}, [IMAGE]),
    ("Flatten", {}, [(2,)]),
    ("Reshape", {"target_shape": (3, -1)}, [(2, 12)]),
    ("Permute", {"dims": (2, 1)}, [SERIES]),
    ("RepeatVector", {"n": 3}, [ROWS]),
    ("UpSampling1D", {"size": 3}, [SERIES]),
    ("UpSampling2D", {}, [IMAGE]),
    ("UpSampling2D", {"size": (2, 3)}, [IMAGE]),
    ("UpSampling3D", {}, [VOLUME]),
    ("ZeroPadding1D", {"padding": (1, 2)}, [SERIES]),
    ("ZeroPadding2D", {"padding": ((1, 2), (3, 4))}, [IMAGE]),
    ("ZeroPadding2D", {"padding": (1, 2)}, [IMAGE]),
    ("ZeroPadding3D", {}, [VOLUME]),
    ("Cropping1D", {"cropping": (1, 2)}, [SERIES]),
    ("Cropping2D", {"cropping": ((1, 2), (3, 4))}, [IMAGE]),
    ("Cropping2D", {"cropping": 2}, [IMAGE]),
    ("Cropping3D", {}, [VOLUME]),
    ("Resizing", {"height": 5, "width": 4}, [IMAGE]),
    ("CenterCrop", {"height": 5, "width": 4}, [IMAGE]),
    ("RandomCrop", {"height": 5, "width": 4}, [IMAGE]),
    ("Embedding", {"input_dim": 20, "output_dim": 4}, [ROWS]),
    *((name, {}, [IMAGE, IMAGE]) for name in ("Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum")),
    ("Add", {}, [SERIES, (2, 1, 5)]),
    ("Concatenate", {}, [SERIES, (2, 9, 3)]),
    ("Concatenate", {"axis": 1}, [SERIES, (2, 4, 5)]),
    ("Dot", {"axes": 2}, [SERIES, (2, 4, 5)]),
    ("Dot", {"axes": 1}, [ROWS, ROWS]),
    ("LSTM", {"units": 4}, [SERIES]),
    ("LSTM", {"units": 4, "return_sequences": True, "return_state": True}, [SERIES]),
    ("GRU", {"units": 4, "return_state": True}, [SERIES]),
    ("SimpleRNN", {"units": 4, "return_sequences": True}, [SERIES]),
    ("ConvLSTM1D", {"filters": 3, "kernel_size": 2}, [(2, 4, 9, 5)]),
    ("ConvLSTM2D", {"filters": 3, "kernel_size": 2, "return_sequences": True}, [(2, 4, 9, 8, 5)]),
    ("Attention", {}, [SERIES, (2, 4, 5)]),
    ("AdditiveAttention", {}, [SERIES, (2, 4, 5)]),
    ("MultiHeadAttention", {"num_heads": 2, "key_dim": 3}, [SERIES, (2, 4, 5)]),
    ("MultiHeadAttention", {"num_heads": 2, "key_dim": 3, "output_shape": 12}, [SERIES, SERIES]),
    ("GroupQueryAttention", {"num_query_heads": 2, "num_key_value_heads": 1, "head_dim": 3}, [SERIES, SERIES]),
    ("CategoryEncoding", {"num_tokens": 6}, [ROWS]),
    ("CategoryEncoding", {"num_tokens": 6, "output_mode": "one_hot"}, [(2, 1)]),
]  # fmt: skip
WRAPPED = [
    ("Bidirectional", "LSTM", {"units": 4}, {}, SERIES),
    ("Bidirectional", "GRU", {"units": 4, "return_sequences": True}, {"merge_mode": "sum"}, SERIES),
    ("Bidirectional", "LSTM", {"units": 4, "return_state": True}, {}, SERIES),
    ("TimeDistributed", "Dense", {"units": 3}, {}, SERIES),
    ("TimeDistributed", "Conv2D", {"filters": 3, "kernel_size": 2}, {}, (2, 4, 9, 8, 5)),
]


def told(shapes):
    return [tuple(shape) for shape in shapes] if isinstance(shapes, list) else tuple(shapes)


def given(keras, name, layer, inputs):
    whole = "int32" if name in ("Embedding", "CategoryEncoding") else "float32"
    tensors = [keras.Input(batch_shape=shape, dtype=whole) for shape in inputs]
    if name.endswith("QueryAttention") or name == "MultiHeadAttention":
        found = layer(*tensors)
    else:
        found = layer(tensors if len(tensors) > 1 else tensors[0])
    return [tuple(each.shape) for each in found] if isinstance(found, (list, tuple)) else tuple(found.shape)


@pytest.mark.tensorflow
def test_every_layer_gives_what_keras_says():
    import keras

    wrong = []
    for name, config, inputs in CASES:
        expected = given(keras, name, getattr(keras.layers, name)(**config), inputs)
        found = told(output_shape(name, config, inputs))
        if name == "EinsumDense":  # what Keras leaves open here is known
            expected = tuple(a if b is None else b for a, b in zip(found, expected, strict=True))
        if found != expected:
            wrong.append((name, config, found, expected))
    for name, inner, inner_config, config, shape in WRAPPED:
        layer = getattr(keras.layers, name)(getattr(keras.layers, inner)(**inner_config), **config)
        found = told(
            output_shape(name, {**config, "layer": {"kind": inner, "config": inner_config}}, [shape])
        )
        if found != given(keras, name, layer, [shape]):
            wrong.append((name, inner, found))
    assert wrong == []
    classes = {value.__name__ for value in vars(keras.layers).values() if isinstance(value, type)}
    assert sorted(classes - set(OUTPUTS) - WITHOUT) == []


def test_costs_and_outputs_agree():
    for name, config, inputs in CASES:
        if name not in RULES or config.get("data_format"):
            continue
        tensors = tuple(Tensor("float32", shape) for shape in inputs)
        try:
            cost = layer_cost(LayerSpec(name, tensors, config))
        except UnknownLayerError:
            continue  # no figure is better than a wrong one
        found = output_shape(name, config, inputs)
        assert cost.output.shape == (found[0] if isinstance(found, list) else found), (name, config)


@pytest.mark.parametrize(
    ("kind", "config", "shape"),
    [
        ("Conv2D", {"filters": 4, "kernel_size": 20}, IMAGE),
        ("Conv2D", {"filters": 4, "kernel_size": 3}, ROWS),
        ("Dense", {}, ROWS),
        ("Reshape", {"target_shape": (5, 5)}, ROWS),
        ("NoSuchLayer", {}, ROWS),
    ],
)
def test_what_no_rule_tells_is_not_guessed(kind, config, shape):
    with pytest.raises(UnknownShapeError):
        output_shape(kind, config, [shape])
