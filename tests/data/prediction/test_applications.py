"""Models of `keras.applications` are drawn as Keras makes them."""

from __future__ import annotations

import math
from collections import Counter

import pytest

from energy_data.prediction.applications import APPLICATION, FAMILIES, drawn
from energy_data.prediction.layer_outputs import UnknownShapeError, output_shape
from energy_data.prediction.layers import layer_cost
from energy_data.prediction.specs import LayerSpec, Tensor

CASES = [
    ("VGG16", (64, 96, 3), {"include_top": False}),
    ("VGG19", (32, 32, 3), {"classes": 7}),
    ("ResNet50", (97, 64, 3), {"include_top": False, "pooling": "avg"}),
    ("ResNet50V2", (65, 80, 3), {"classes": 10}),
    ("DenseNet121", (70, 64, 3), {"include_top": False, "pooling": "max"}),
    ("MobileNet", (64, 90, 3), {"alpha": 0.5, "include_top": False}),
    ("MobileNet", (64, 64, 1), {"classes": 5}),
    ("MobileNetV2", (97, 96, 3), {"alpha": 1.4, "classes": 3}),
    ("MobileNetV2", (96, 96, 3), {"alpha": 0.35, "include_top": False}),
    ("MobileNetV3Small", (65, 64, 3), {"include_top": False}),
    ("MobileNetV3Large", (96, 75, 3), {"classes": 9}),
    ("MobileNetV3Large", (64, 64, 3), {"minimalistic": True, "alpha": 0.75, "include_preprocessing": False}),
    ("EfficientNetB0", (75, 64, 3), {"include_top": False}),
    ("EfficientNetB3", (64, 64, 3), {"classes": 4}),
    ("EfficientNetV2B2", (64, 65, 3), {"include_top": False, "pooling": "avg"}),
    ("EfficientNetV2S", (64, 64, 3), {"classes": 6}),
    ("Xception", (80, 75, 3), {"include_top": False}),
    ("InceptionV3", (90, 75, 3), {"classes": 11}),
]
"""Sides that are odd and even, with and without a classifier, wider and narrower."""


@pytest.mark.tensorflow
@pytest.mark.xdist_group("tensorflow")
@pytest.mark.parametrize(("kind", "image", "config"), CASES)
def test_a_drawing_has_the_layers_of_the_model_that_keras_makes(kind, image, config):
    import keras

    # Nothing is computed with the weights, so none are made.
    with keras.StatelessScope():
        model = getattr(keras.applications, kind)(input_shape=image, weights=None, **config)
    shape, layers = drawn(kind, {**config, "weights": ""}, (8, *image))
    assert shape == (8, *model.output.shape[1:])
    made = Counter(
        (type(each).__name__, _sides(each.input), tuple(each.output.shape[1:]))
        for each in model.layers
        if isinstance(each, keras.layers.Layer) and type(each).__name__ != "InputLayer"
    )
    ours = Counter(
        (each.kind, _sides(each.inputs), output_shape(each.kind, each.config, _shapes(each))[1:])
        for each in layers
    )
    assert ours == made
    cost = layer_cost(LayerSpec(f"{APPLICATION}{kind}", (Tensor("float32", (8, *image)),), config))
    assert cost.output.shape == shape
    assert cost.variables == len(model.trainable_variables)
    assert cost.parameters == sum(math.prod(each.shape) for each in model.trainable_variables)


def test_every_model_of_a_family_is_drawn():
    for kind, (_, side) in FAMILIES.items():
        shape, layers = drawn(kind, {}, (1, side, side, 3))
        assert shape == (1, 1000), kind
        assert layer_cost(LayerSpec(f"{APPLICATION}{kind}", (Tensor("float32", (1, side, side, 3)),))).parts
        assert len(layers) > 15


@pytest.mark.parametrize(
    ("kind", "config", "image"),
    [
        ("MobileNetV2", {"alpha": "wide"}, (1, 96, 96, 3)),
        ("VGG16", {"classes": "many"}, (1, 96, 96, 3)),
        ("VGG16", {}, (1, 96, 96)),
        ("NASNetMobile", {}, (1, 224, 224, 3)),
    ],
)
def test_a_model_whose_arguments_are_not_known_has_no_shape(kind, config, image):
    with pytest.raises(UnknownShapeError):
        drawn(kind, config, image)


def _shapes(layer):
    return [tensor.shape for tensor in layer.inputs]


def _sides(tensors):
    """The shapes that go in, without the batch, in whatever order they are joined."""
    listed = tensors if isinstance(tensors, (list, tuple)) else [tensors]
    return tuple(sorted(tuple(each.shape[1:]) for each in listed))
