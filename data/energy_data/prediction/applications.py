"""The models of `keras.applications`, layer by layer: what they give for an image, and what they consist of.

Each family is drawn from the numbers that its paper varies; tests compare every drawing with the model that Keras makes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from energy_data.prediction.layer_outputs import Config, Shape, UnknownShapeError, output_shape
from energy_data.prediction.specs import LayerSpec, Tensor

APPLICATION = "applications."
"""How the name of such a model begins where it stands among layers."""


class ModelDraft:
    """A model while it is drawn: its layers so far, each with the shapes that it is given."""

    def __init__(self) -> None:
        self.layers: list[LayerSpec] = []

    def put(self, kind: str, *shapes: Shape, **config: object) -> Shape:
        """Another layer; the shape that it gives."""
        self.layers.append(LayerSpec(kind, tuple(Tensor("float32", shape) for shape in shapes), config))
        found = output_shape(kind, config, shapes)
        assert isinstance(found, tuple)
        return found

    def conv(
        self,
        x: Shape,
        filters: int,
        size: object = 1,
        strides: int = 1,
        padding: str = "same",
        use_bias: bool = False,
        **config: object,
    ) -> Shape:
        """A convolution."""
        config.update(strides=strides, padding=padding, use_bias=use_bias)
        return self.put("Conv2D", x, filters=filters, kernel_size=size, **config)

    def depthwise(self, x: Shape, size: int, strides: int, **config: object) -> Shape:
        """A convolution of each channel by itself, padded by hand where it takes every other place."""
        if strides > 1:
            # Even sides need one place less in front.
            around = tuple((size // 2 - (1 - side % 2), size // 2) for side in x[1:3])
            x = self.put("ZeroPadding2D", x, padding=around)
        padding = "same" if strides == 1 else "valid"
        config.update(strides=strides, padding=padding, use_bias=False)
        return self.put("DepthwiseConv2D", x, kernel_size=size, **config)

    def normal(self, x: Shape, activation: str = "", **config: object) -> Shape:
        """Normalised over the batch, and activated if one is named."""
        x = self.put("BatchNormalization", x, **config)
        return self.active(x, activation) if activation else x

    def active(self, x: Shape, activation: str) -> Shape:
        """An activation; `ReLU` is a layer of its own."""
        return (
            self.put("ReLU", x) if activation == "ReLU" else self.put("Activation", x, activation=activation)
        )

    def excited(self, x: Shape, hidden: int, activation: str) -> Shape:
        """Channels weighted by what they hold on the average (squeeze and excitation)."""
        depth = x[-1]
        mean = self.put("GlobalAveragePooling2D", x)
        mean = self.put("Reshape", mean, target_shape=(1, 1, depth))
        mean = self.conv(mean, hidden, use_bias=True, activation=activation)
        mean = self.conv(mean, depth, use_bias=True, activation="sigmoid")
        return self.put("Multiply", x, mean)


Body = Callable[[ModelDraft, Shape, Config], Shape]


def divisible(width: float, by: int = 8) -> int:
    """A number of channels as a multiple of eight, at most a tenth smaller."""
    found = max(by, int(width + by / 2) // by * by)
    return found + by if found < 0.9 * width else found


def _vgg(counts: Sequence[int]) -> Body:
    def body(draw: ModelDraft, x: Shape, config: Config) -> Shape:
        for filters, count in zip((64, 128, 256, 512, 512), counts, strict=True):
            for _ in range(count):
                x = draw.conv(x, filters, 3, use_bias=True, activation="relu")
            x = draw.put("MaxPooling2D", x, pool_size=2, strides=2)
        return x

    return body


def _stem(draw: ModelDraft, x: Shape, use_bias: bool, activated: bool = True) -> Shape:
    """How residual and dense networks begin."""
    x = draw.put("ZeroPadding2D", x, padding=3)
    x = draw.conv(x, 64, 7, 2, "valid", use_bias)
    x = draw.normal(x, "relu") if activated else x
    x = draw.put("ZeroPadding2D", x, padding=1)
    return draw.put("MaxPooling2D", x, pool_size=3, strides=2)


def _resnet(counts: Sequence[int]) -> Body:
    def block(draw: ModelDraft, x: Shape, filters: int, strides: int, first: bool) -> Shape:
        shortcut = draw.normal(draw.conv(x, 4 * filters, 1, strides, "valid", True)) if first else x
        x = draw.normal(draw.conv(x, filters, 1, strides, "valid", True), "relu")
        x = draw.normal(draw.conv(x, filters, 3, use_bias=True), "relu")
        x = draw.normal(draw.conv(x, 4 * filters, 1, 1, "valid", True))
        return draw.active(draw.put("Add", shortcut, x), "relu")

    def body(draw: ModelDraft, x: Shape, config: Config) -> Shape:
        x = _stem(draw, x, True)
        for stage, count in enumerate(counts):
            for place in range(count):
                strides = 2 if stage and not place else 1
                x = block(draw, x, 64 * 2**stage, strides, not place)
        return x

    return body


def _resnet_v2(counts: Sequence[int]) -> Body:
    def block(draw: ModelDraft, x: Shape, filters: int, strides: int, first: bool) -> Shape:
        before = draw.normal(x, "relu")
        if first:
            shortcut = draw.conv(before, 4 * filters, 1, strides, "valid", True)
        else:
            shortcut = draw.put("MaxPooling2D", x, pool_size=1, strides=strides) if strides > 1 else x
        x = draw.normal(draw.conv(before, filters, 1, 1, "valid"), "relu")
        x = draw.put("ZeroPadding2D", x, padding=1)
        x = draw.normal(draw.conv(x, filters, 3, strides, "valid"), "relu")
        x = draw.conv(x, 4 * filters, 1, 1, "valid", True)
        return draw.put("Add", shortcut, x)

    def body(draw: ModelDraft, x: Shape, config: Config) -> Shape:
        x = _stem(draw, x, True, activated=False)
        for stage, count in enumerate(counts):
            for place in range(count):
                strides = 2 if stage < 3 and place == count - 1 else 1
                x = block(draw, x, 64 * 2**stage, strides, not place)
        return draw.normal(x, "relu")

    return body


def _densenet(counts: Sequence[int]) -> Body:
    def body(draw: ModelDraft, x: Shape, config: Config) -> Shape:
        x = _stem(draw, x, False)
        for stage, count in enumerate(counts):
            for _ in range(count):
                more = draw.conv(draw.normal(x, "relu"), 128, 1, 1, "valid")
                more = draw.conv(draw.normal(more, "relu"), 32, 3)
                x = draw.put("Concatenate", x, more)
            if stage < len(counts) - 1:
                x = draw.conv(draw.normal(x, "relu"), x[-1] // 2, 1, 1, "valid")
                x = draw.put("AveragePooling2D", x, pool_size=2, strides=2)
        return draw.normal(x, "relu")

    return body


def _alpha(config: Config) -> float:
    alpha = config.get("alpha", 1.0)
    if not isinstance(alpha, (int, float)):
        raise UnknownShapeError("its width is not known")
    return float(alpha)


def _mobilenet(draw: ModelDraft, x: Shape, config: Config) -> Shape:
    alpha, multiplier = _alpha(config), config.get("depth_multiplier", 1)
    x = draw.normal(draw.conv(x, int(32 * alpha), 3, 2), "ReLU")
    stages = ((64, 1, 1), (128, 2, 2), (256, 2, 2), (512, 6, 2), (1024, 2, 2))
    for filters, count, first in stages:
        for place in range(count):
            strides = 1 if place else first
            if strides > 1:
                x = draw.put("ZeroPadding2D", x, padding=((0, 1), (0, 1)))
            x = draw.put(
                "DepthwiseConv2D", x, kernel_size=3, strides=strides, depth_multiplier=multiplier, use_bias=False,
                padding="same" if strides == 1 else "valid",
            )  # fmt: skip
            x = draw.normal(x, "ReLU")
            x = draw.normal(draw.conv(x, int(filters * alpha)), "ReLU")
    return x


def _mobilenet_v2(draw: ModelDraft, x: Shape, config: Config) -> Shape:
    alpha = _alpha(config)
    x = draw.normal(draw.conv(x, divisible(32 * alpha), 3, 2), "ReLU")
    stages = ((16, 1, 1), (24, 2, 2), (32, 3, 2), (64, 4, 2), (96, 3, 1), (160, 3, 2), (320, 1, 1))
    for stage, (filters, count, first) in enumerate(stages):
        for place in range(count):
            strides, before = 1 if place else first, x
            if stage:
                x = draw.normal(draw.conv(x, 6 * x[-1]), "ReLU")
            x = draw.normal(draw.depthwise(x, 3, strides), "ReLU")
            x = draw.normal(draw.conv(x, divisible(int(filters * alpha))))
            if strides == 1 and before == x:
                x = draw.put("Add", before, x)
    return draw.normal(draw.conv(x, divisible(1280 * max(alpha, 1.0)), 1, 1, "valid"), "ReLU")


SMALL = (
    (1, 16, 3, 2, True, False), (72 / 16, 24, 3, 2, False, False), (88 / 24, 24, 3, 1, False, False),
    (4, 40, 5, 2, True, True), (6, 40, 5, 1, True, True), (6, 40, 5, 1, True, True), (3, 48, 5, 1, True, True),
    (3, 48, 5, 1, True, True), (6, 96, 5, 2, True, True), (6, 96, 5, 1, True, True), (6, 96, 5, 1, True, True),
)  # fmt: skip
LARGE = (
    (1, 16, 3, 1, False, False), (4, 24, 3, 2, False, False), (3, 24, 3, 1, False, False), (3, 40, 5, 2, True, False),
    (3, 40, 5, 1, True, False), (3, 40, 5, 1, True, False), (6, 80, 3, 2, False, True), (2.5, 80, 3, 1, False, True),
    (2.3, 80, 3, 1, False, True), (2.3, 80, 3, 1, False, True), (6, 112, 3, 1, True, True), (6, 112, 3, 1, True, True),
    (6, 160, 5, 2, True, True), (6, 160, 5, 1, True, True), (6, 160, 5, 1, True, True),
)  # fmt: skip
"""Blocks of MobileNetV3: how much wider inside, filters, window, strides, if channels are weighted, hard swish or ReLU."""


def _mobilenet_v3(blocks: Sequence[tuple[float, int, int, int, bool, bool]], last: int) -> Body:
    def body(draw: ModelDraft, x: Shape, config: Config) -> Shape:
        alpha, plain = _alpha(config), config.get("minimalistic") is True
        swish = "ReLU" if plain else "hard_swish"
        if config.get("include_preprocessing", True) is not False:
            x = draw.put("Rescaling", x)
        x = draw.normal(draw.conv(x, 16, 3, 2), swish)
        for place, (wider, filters, size, strides, weighted, swished) in enumerate(blocks):
            before, inside, active = x, divisible(x[-1] * wider), swish if swished else "ReLU"
            if place:
                x = draw.normal(draw.conv(x, inside), active)
            x = draw.normal(draw.depthwise(x, 3 if plain else size, strides), active)
            if weighted and not plain:
                mean = draw.put("GlobalAveragePooling2D", x, keepdims=True)
                mean = draw.put("ReLU", draw.conv(mean, divisible(inside * 0.25), use_bias=True))
                mean = draw.put("ReLU", draw.conv(mean, inside, use_bias=True))
                x = draw.put("Multiply", x, mean)
            x = draw.normal(draw.conv(x, divisible(filters * alpha)))
            if strides == 1 and before == x:
                x = draw.put("Add", before, x)
        x = draw.normal(draw.conv(x, divisible(x[-1] * 6)), swish)
        if config.get("include_top", True) is False:
            return x
        x = draw.put("GlobalAveragePooling2D", x, keepdims=True)
        return draw.active(draw.conv(x, divisible(last * max(alpha, 1.0)), use_bias=True), swish)

    return body


STAGES = (
    (16, 1, 1, 1, 3), (24, 2, 2, 6, 3), (40, 2, 2, 6, 5), (80, 3, 2, 6, 3), (112, 3, 1, 6, 5), (192, 4, 2, 6, 5),
    (320, 1, 1, 6, 3),
)  # fmt: skip
"""Of EfficientNet: filters, blocks, strides, how much wider inside, window."""


def _efficientnet(width: float, depth: float) -> Body:
    def body(draw: ModelDraft, x: Shape, config: Config) -> Shape:
        x = draw.put("Normalization", draw.put("Rescaling", x))
        if config.get("weights", "imagenet") == "imagenet":
            x = draw.put("Rescaling", x)
        around = tuple((side % 2, 1) for side in x[1:3])
        x = draw.put("ZeroPadding2D", x, padding=around)
        x = draw.normal(draw.conv(x, divisible(32 * width), 3, 2, "valid"), "swish")
        done = 0
        for filters, count, first, wider, size in STAGES:
            for place in range(math.ceil(depth * count)):
                strides, before = 1 if place else first, x
                if wider > 1:
                    x = draw.normal(draw.conv(x, before[-1] * wider), "swish")
                x = draw.normal(draw.depthwise(x, size, strides), "swish")
                x = draw.excited(x, max(1, int(before[-1] * 0.25)), "swish")
                x = draw.normal(draw.conv(x, divisible(filters * width)))
                if strides == 1 and before == x:
                    x = draw.put("Add", draw.put("Dropout", x) if done else x, before)
                done += 1
        return draw.normal(draw.conv(x, divisible(1280 * width)), "swish")

    return body


BASE = ((16, 1, 1, 1), (32, 2, 2, 4), (48, 2, 2, 4), (96, 3, 2, 4), (112, 5, 1, 6), (192, 8, 2, 6))
"""Of EfficientNetV2 B0 to B3: filters, blocks, strides, how much wider inside. The first three stages take whole windows."""


def _efficientnet_v2(
    stem: int,
    stages: Sequence[tuple[int, int, int, int]],
    width: float = 1.0,
    depth: float = 1.0,
    base: bool = False,
) -> Body:
    def body(draw: ModelDraft, x: Shape, config: Config) -> Shape:
        if config.get("include_preprocessing", True) is not False:
            normalised = base and x[-1] == 3
            x = draw.put("Rescaling", x)
            x = draw.put("Normalization", x) if normalised else x
        x = draw.normal(draw.conv(x, divisible(stem * width), 3, 2), "swish")
        done = 0
        for stage, (filters, count, first, wider) in enumerate(stages):
            out = divisible(filters * width)
            for place in range(math.ceil(depth * count)):
                strides, before = 1 if place else first, x
                if stage < 3:
                    if wider > 1:
                        x = draw.normal(draw.conv(x, before[-1] * wider, 3, strides), "swish")
                        x = draw.normal(draw.conv(x, out))
                    else:
                        x = draw.normal(draw.conv(x, out, 3, strides), "swish")
                else:
                    x = draw.normal(draw.conv(x, before[-1] * wider), "swish")
                    x = draw.put(
                        "DepthwiseConv2D", x, kernel_size=3, strides=strides, padding="same", use_bias=False
                    )
                    x = draw.normal(x, "swish")
                    x = draw.excited(x, max(1, int(before[-1] * 0.25)), "swish")
                    x = draw.normal(draw.conv(x, out))
                if strides == 1 and before == x:
                    x = draw.put("Add", draw.put("Dropout", x) if done else x, before)
                done += 1
        return draw.normal(draw.conv(x, divisible(1280 * width)), "swish")

    return body


def _xception(draw: ModelDraft, x: Shape, config: Config) -> Shape:
    def separable(x: Shape, filters: int) -> Shape:
        x = draw.put("SeparableConv2D", x, filters=filters, kernel_size=3, padding="same", use_bias=False)
        return draw.normal(x)

    def halved(x: Shape, first: int, second: int, activated: bool = True) -> Shape:
        rest = draw.normal(draw.conv(x, second, 1, 2))
        x = separable(draw.active(x, "relu") if activated else x, first)
        x = separable(draw.active(x, "relu"), second)
        return draw.put("Add", draw.put("MaxPooling2D", x, pool_size=3, strides=2, padding="same"), rest)

    x = draw.normal(draw.conv(x, 32, 3, 2, "valid"), "relu")
    x = draw.normal(draw.conv(x, 64, 3, 1, "valid"), "relu")
    x = halved(halved(halved(x, 128, 128, False), 256, 256), 728, 728)
    for _ in range(8):
        rest = x
        for _ in range(3):
            x = separable(draw.active(x, "relu"), 728)
        x = draw.put("Add", x, rest)
    x = halved(x, 728, 1024)
    for filters in (1536, 2048):
        x = draw.active(separable(x, filters), "relu")
    return x


def _inception_v3(draw: ModelDraft, x: Shape, config: Config) -> Shape:
    def conv(x: Shape, filters: int, size: object = 1, strides: int = 1, padding: str = "same") -> Shape:
        return draw.normal(draw.conv(x, filters, size, strides, padding), "relu", scale=False)

    def chain(x: Shape, *convolutions: tuple[int, object]) -> Shape:
        for filters, size in convolutions:
            x = conv(x, filters, size)
        return x

    def pooled(x: Shape) -> Shape:
        return draw.put("MaxPooling2D", x, pool_size=3, strides=2)

    def averaged(x: Shape, filters: int) -> Shape:
        return conv(draw.put("AveragePooling2D", x, pool_size=3, strides=1, padding="same"), filters)

    wide, tall = (1, 7), (7, 1)
    x = conv(conv(conv(x, 32, 3, 2, "valid"), 32, 3, 1, "valid"), 64, 3)
    x = pooled(conv(conv(pooled(x), 80, 1, 1, "valid"), 192, 3, 1, "valid"))
    for filters in (32, 64, 64):
        five, three = chain(x, (48, 1), (64, 5)), chain(x, (64, 1), (96, 3), (96, 3))
        x = draw.put("Concatenate", conv(x, 64), five, three, averaged(x, filters))
    three = conv(chain(x, (64, 1), (96, 3)), 96, 3, 2, "valid")
    x = draw.put("Concatenate", conv(x, 384, 3, 2, "valid"), three, pooled(x))
    for inner in (128, 160, 160, 192):
        seven = chain(x, (inner, 1), (inner, wide), (192, tall))
        twice = chain(x, (inner, 1), (inner, tall), (inner, wide), (inner, tall), (192, wide))
        x = draw.put("Concatenate", conv(x, 192), seven, twice, averaged(x, 192))
    three = conv(conv(x, 192), 320, 3, 2, "valid")
    seven = conv(chain(x, (192, 1), (192, wide), (192, tall)), 192, 3, 2, "valid")
    x = draw.put("Concatenate", three, seven, pooled(x))
    for _ in range(2):
        branches = [conv(x, 320)]
        for start in (conv(x, 384), chain(x, (448, 1), (384, 3))):
            branches.append(draw.put("Concatenate", conv(start, 384, (1, 3)), conv(start, 384, (3, 1))))
        x = draw.put("Concatenate", *branches, averaged(x, 192))
    return x


S = ((24, 2, 1, 1), (48, 4, 2, 4), (64, 4, 2, 4), (128, 6, 2, 4), (160, 9, 1, 6), (256, 15, 2, 6))
M = (
    (24, 3, 1, 1),
    (48, 5, 2, 4),
    (80, 5, 2, 4),
    (160, 7, 2, 4),
    (176, 14, 1, 6),
    (304, 18, 2, 6),
    (512, 5, 1, 6),
)
L = (
    (32, 4, 1, 1),
    (64, 7, 2, 4),
    (96, 7, 2, 4),
    (192, 10, 2, 4),
    (224, 19, 1, 6),
    (384, 25, 2, 6),
    (640, 7, 1, 6),
)

FAMILIES: Mapping[str, tuple[Body, int]] = {
    "VGG16": (_vgg((2, 2, 3, 3, 3)), 224),
    "VGG19": (_vgg((2, 2, 4, 4, 4)), 224),
    "ResNet50": (_resnet((3, 4, 6, 3)), 224),
    "ResNet101": (_resnet((3, 4, 23, 3)), 224),
    "ResNet152": (_resnet((3, 8, 36, 3)), 224),
    "ResNet50V2": (_resnet_v2((3, 4, 6, 3)), 224),
    "ResNet101V2": (_resnet_v2((3, 4, 23, 3)), 224),
    "ResNet152V2": (_resnet_v2((3, 8, 36, 3)), 224),
    "DenseNet121": (_densenet((6, 12, 24, 16)), 224),
    "DenseNet169": (_densenet((6, 12, 32, 32)), 224),
    "DenseNet201": (_densenet((6, 12, 48, 32)), 224),
    "MobileNet": (_mobilenet, 224),
    "MobileNetV2": (_mobilenet_v2, 224),
    "MobileNetV3Small": (_mobilenet_v3(SMALL, 1024), 224),
    "MobileNetV3Large": (_mobilenet_v3(LARGE, 1280), 224),
    "EfficientNetB0": (_efficientnet(1.0, 1.0), 224),
    "EfficientNetB1": (_efficientnet(1.0, 1.1), 240),
    "EfficientNetB2": (_efficientnet(1.1, 1.2), 260),
    "EfficientNetB3": (_efficientnet(1.2, 1.4), 300),
    "EfficientNetB4": (_efficientnet(1.4, 1.8), 380),
    "EfficientNetB5": (_efficientnet(1.6, 2.2), 456),
    "EfficientNetB6": (_efficientnet(1.8, 2.6), 528),
    "EfficientNetB7": (_efficientnet(2.0, 3.1), 600),
    "EfficientNetV2B0": (_efficientnet_v2(32, BASE, 1.0, 1.0, True), 224),
    "EfficientNetV2B1": (_efficientnet_v2(32, BASE, 1.0, 1.1, True), 240),
    "EfficientNetV2B2": (_efficientnet_v2(32, BASE, 1.1, 1.2, True), 260),
    "EfficientNetV2B3": (_efficientnet_v2(32, BASE, 1.2, 1.4, True), 300),
    "EfficientNetV2S": (_efficientnet_v2(24, S), 384),
    "EfficientNetV2M": (_efficientnet_v2(24, M), 480),
    "EfficientNetV2L": (_efficientnet_v2(32, L), 480),
    "Xception": (_xception, 299),
    "InceptionV3": (_inception_v3, 299),
}
"""Each model with the side of the image that it takes where nothing else is said."""


def _top(draw: ModelDraft, x: Shape, kind: str, config: Config) -> Shape:
    """What stands behind the convolutions: a classifier, a pooling, or nothing."""
    if config.get("include_top", True) is False:
        pooling = {"avg": "GlobalAveragePooling2D", "max": "GlobalMaxPooling2D"}.get(
            str(config.get("pooling"))
        )
        return draw.put(pooling, x) if pooling else x
    classes = config.get("classes", 1000)
    if not isinstance(classes, int):
        raise UnknownShapeError(f"{kind}: how many classes is not known")
    activation = config.get("classifier_activation", "softmax")
    if kind.startswith("VGG"):
        x = draw.put("Flatten", x)
        for _ in range(2):
            x = draw.put("Dense", x, units=4096, activation="relu")
    elif kind.startswith("MobileNetV3"):
        if config.get("dropout_rate", 0.2) != 0:
            x = draw.put("Dropout", x)
        x = draw.put("Flatten", draw.conv(x, classes, use_bias=True))
        return draw.put("Activation", x, activation=activation)
    elif kind == "MobileNet":
        x = draw.put("Dropout", draw.put("GlobalAveragePooling2D", x, keepdims=True))
        x = draw.put("Reshape", draw.conv(x, classes, use_bias=True), target_shape=(classes,))
        return draw.put("Activation", x, activation=activation)
    else:
        x = draw.put("GlobalAveragePooling2D", x)
        if kind.startswith("EfficientNet"):
            x = draw.put("Dropout", x)
    return draw.put("Dense", x, units=classes, activation=activation)


def drawn(kind: str, config: Config, image: Shape) -> tuple[Shape, tuple[LayerSpec, ...]]:
    """What a model gives for a batch of images, and its layers; raises `UnknownShapeError` where it is not known."""
    known = tuple(
        sorted((key, value) for key, value in config.items() if isinstance(value, (str, int, float)))
    )
    return _drawn(kind, known, image)


@lru_cache(maxsize=64)
def _drawn(
    kind: str, config: tuple[tuple[str, str | int | float], ...], image: Shape
) -> tuple[Shape, tuple[LayerSpec, ...]]:
    body, _ = FAMILIES.get(kind, (None, 0))
    if body is None or len(image) != 4:
        raise UnknownShapeError(f"{kind}: its layers are not known")
    draw, given = ModelDraft(), dict(config)
    return _top(draw, body(draw, image, given), kind, given), tuple(draw.layers)
