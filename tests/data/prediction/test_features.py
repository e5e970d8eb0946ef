"""Features of calls and layers: what the shapes say of the work, checked against counts made by hand and by Keras."""

from __future__ import annotations

import pytest

from energy_data.catalogue.catalogue import Catalogue
from energy_data.prediction.api_families import FAMILY_OF
from energy_data.prediction.families import features
from energy_data.prediction.layers import RULES, UnknownLayerError, layer_cost
from energy_data.prediction.specs import CallSpec, LayerSpec, Tensor


def tensor(*shape: int, dtype: str = "float32") -> Tensor:
    return Tensor(dtype, shape)


def test_every_api_with_a_family_is_one_that_the_reader_can_find():
    catalogue = Catalogue.load()
    assert [name for name in FAMILY_OF if catalogue.canonical(name) != name] == []


@pytest.mark.parametrize(
    ("api", "inputs", "attributes", "expected"),
    [
        ("math.exp", [tensor(4, 4)], {}, (128, 0)),
        ("math.add", [tensor(4, 4), tensor(4, 4)], {}, (192, 0)),
        (
            "math.add",
            [tensor(4, 4), tensor(4)],
            {},
            (64 + 16 + 64, 16),
        ),  # broadcast: 16 elements the slow way
        ("linalg.matmul", [tensor(2, 3), tensor(3, 5)], {}, ((6 + 15 + 10) * 4, 60)),
        ("linalg.matmul", [tensor(3, 2), tensor(3, 5)], {"transpose_a": True}, ((6 + 15 + 10) * 4, 60)),
        ("linalg.matmul", [tensor(7, 2, 3), tensor(7, 3, 5)], {}, ((6 + 15 + 10) * 4 * 7, 420)),
        ("einsum", [tensor(2, 3), tensor(3, 5)], {"equation": "ij,jk->ik"}, ((6 + 15 + 10) * 4, 60)),
        ("math.reduce_sum", [tensor(8, 10)], {"axis": -1}, (320, 8)),
        ("math.reduce_sum", [tensor(8, 10)], {}, (320, 1)),
        ("zeros", [], {"shape": [3, 5]}, (60, 15)),
        ("range", [], {"start": 10}, (40, 10)),
        ("one_hot", [tensor(6, dtype="int32")], {"depth": 10}, (240, 60)),
        ("gather", [tensor(100, 8), tensor(5, dtype="int32")], {}, (2 * 40 * 4 + 20, 40)),
        (
            "nn.conv2d",
            [tensor(1, 5, 5, 2), tensor(3, 3, 2, 4)],
            {"strides": 1, "padding": "VALID"},
            ((50 + 72 + 36) * 4, 2 * 9 * 4 * 18),
        ),
        ("image.resize", [tensor(2, 8, 8, 3)], {"size": [4, 4]}, ((384 + 96) * 4, 96)),
        ("reshape", [tensor(1000, 1000)], {}, (0, 0)),
    ],
)
def test_features_are_what_the_shapes_say(api, inputs, attributes, expected):
    assert features(CallSpec(f"tensorflow.{api}", tuple(inputs), attributes)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("api", "inputs", "attributes"),
    [
        ("tensorflow.zeros", [], {}),
        ("tensorflow.tile", [tensor(3)], {}),
        ("tensorflow.tile", [tensor(3)], {"multiples": "many"}),
        ("tensorflow.linalg.matmul", [tensor(3, 3)], {}),
        ("tensorflow.no_such_call", [tensor(3, 3)], {}),
        ("tensorflow.math.reduce_sum", [tensor(3)], {"axis": 7}),
    ],
)
def test_a_call_that_is_not_wholly_known_has_no_features(api, inputs, attributes):
    assert features(CallSpec(api, tuple(inputs), attributes)) is None


def test_a_layer_that_nobody_calibrated_is_said_to_be_unknown():
    with pytest.raises(UnknownLayerError, match="CapsuleLayer"):
        layer_cost(LayerSpec("CapsuleLayer", (tensor(1, 2),)))
    with pytest.raises(UnknownLayerError, match="units"):
        layer_cost(LayerSpec("Dense", (tensor(1, 2),)))


LAYERS = [
    ("Dense", {"units": 7}, [(3, 5)]),
    ("Dense", {"units": 7, "use_bias": False}, [(3, 4, 5)]),
    ("Conv2D", {"filters": 6, "kernel_size": 3}, [(2, 9, 8, 3)]),
    ("Conv2D", {"filters": 6, "kernel_size": (3, 5), "strides": (2, 1), "padding": "same"}, [(2, 9, 8, 3)]),
    ("Conv2D", {"filters": 6, "kernel_size": 3, "dilation_rate": 2}, [(2, 9, 9, 3)]),
    ("Conv1D", {"filters": 6, "kernel_size": 3, "strides": 2}, [(2, 9, 3)]),
    ("Conv1D", {"filters": 6, "kernel_size": 3, "padding": "causal"}, [(2, 9, 3)]),
    ("Conv2DTranspose", {"filters": 6, "kernel_size": 3, "strides": 2, "padding": "same"}, [(2, 5, 5, 3)]),
    ("Conv2DTranspose", {"filters": 6, "kernel_size": 3, "strides": 2}, [(2, 5, 5, 3)]),
    ("DepthwiseConv2D", {"kernel_size": 3, "depth_multiplier": 2}, [(2, 9, 9, 3)]),
    ("SeparableConv2D", {"filters": 4, "kernel_size": 3, "padding": "same"}, [(2, 9, 9, 3)]),
    ("MaxPooling2D", {}, [(2, 9, 8, 3)]),
    ("MaxPooling2D", {"pool_size": 3, "strides": 2, "padding": "same"}, [(2, 9, 8, 3)]),
    ("AveragePooling1D", {"pool_size": 2}, [(2, 9, 3)]),
    ("GlobalAveragePooling2D", {}, [(2, 9, 8, 3)]),
    ("GlobalMaxPooling1D", {"keepdims": True}, [(2, 9, 3)]),
    ("BatchNormalization", {}, [(2, 9, 3)]),
    ("LayerNormalization", {}, [(2, 9, 3)]),
    ("Dropout", {"rate": 0.5}, [(2, 9)]),
    ("Activation", {"activation": "relu"}, [(2, 9)]),
    ("Flatten", {}, [(2, 9, 3)]),
    ("Reshape", {"target_shape": (3, -1)}, [(2, 9)]),
    ("UpSampling2D", {"size": 3}, [(2, 5, 4, 3)]),
    ("ZeroPadding2D", {"padding": ((1, 2), (3, 4))}, [(2, 5, 4, 3)]),
    ("Permute", {"dims": (2, 1)}, [(2, 5, 4)]),
    ("RepeatVector", {"n": 4}, [(2, 5)]),
    ("Add", {}, [(2, 5), (2, 5)]),
    ("Concatenate", {"axis": 1}, [(2, 5, 3), (2, 4, 3)]),
    ("Embedding", {"input_dim": 20, "output_dim": 6}, [(2, 5)]),
    ("LSTM", {"units": 6}, [(2, 5, 3)]),
    ("LSTM", {"units": 6, "return_sequences": True}, [(2, 5, 3)]),
    ("GRU", {"units": 6}, [(2, 5, 3)]),
    ("SimpleRNN", {"units": 6}, [(2, 5, 3)]),
    ("MultiHeadAttention", {"num_heads": 2, "key_dim": 4}, [(2, 5, 8), (2, 5, 8)]),
]


@pytest.mark.tensorflow
def test_shapes_and_parameters_are_those_of_keras():
    keras = pytest.importorskip("keras")
    wrong = []
    for kind, config, shapes in LAYERS:
        inputs = tuple(
            tensor(*shape, dtype="int32" if kind == "Embedding" else "float32") for shape in shapes
        )
        ours = layer_cost(LayerSpec(kind, inputs, config))
        layer = getattr(keras.layers, kind)(**config)
        given = [keras.ops.zeros(each.shape, dtype=each.dtype) for each in inputs]
        result = (
            layer(*given) if kind == "MultiHeadAttention" else layer(given if len(given) > 1 else given[0])
        )
        weights = layer.trainable_variables
        theirs = (tuple(result.shape), len(weights), sum(int(keras.ops.size(each)) for each in weights))
        if (ours.output.shape, ours.variables, ours.parameters) != theirs:
            wrong.append((kind, config, ours, theirs))
    assert wrong == []
    assert {kind for kind, _, _ in LAYERS} <= set(RULES)
