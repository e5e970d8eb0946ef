"""Small models of every common kind. What they cost beside their layers is the cost of a step, a call and a trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from energy_data.prediction.layers import layer_cost
from energy_data.prediction.specs import LayerSpec, ModelSpec, Tensor

FEW = 2
"""Steps of the shorter of the two calls whose difference is what steps cost."""

Model = dict[str, Any]
Layer = dict[str, Any]


def layer(kind: str, sources: Sequence[int] = (), **config: Any) -> Layer:
    """A layer; `sources` counts the model's tensors, the input being 0."""
    return {"kind": kind, "config": config, "from": list(sources)}


def model(
    name: str,
    input_shape: Sequence[int],
    layers: Sequence[Layer],
    *,
    batch: int = 32,
    optimizer: str = "adam",
    loss: str = "sparse_categorical_crossentropy",
    words: int = 0,
    steps: int = 22,
) -> Model:
    """A model as the calibration's program builds it."""
    return {
        "name": name,
        "input": list(input_shape),
        "dtype": "int32" if words else "float32",
        "below": words,
        "layers": list(layers),
        "batch": batch,
        "optimizer": optimizer,
        "loss": loss,
        "few": FEW,
        "steps": steps,
        "repeats": 4,
        "compiled": True,
    }


def conv(filters: int, window: int = 3, **more: Any) -> Layer:
    """A convolution with ReLU."""
    return layer("Conv2D", filters=filters, kernel_size=window, activation="relu", padding="same", **more)


def dense(units: int, activation: str | None = "relu") -> Layer:
    """A dense layer."""
    return layer("Dense", units=units, activation=activation)


def softmax(classes: int = 10) -> Layer:
    """The last layer of a classifier."""
    return dense(classes, "softmax")


REFERENCE: tuple[Model, ...] = (
    model("smallest", (4,), [dense(1, None)], loss="mse", steps=42),
    model("wide input", (64, 64, 3), [layer("Flatten"), softmax()], steps=30),
    model("deep and narrow", (32,), [*(dense(32) for _ in range(10)), dense(1, None)], loss="mse", steps=30),
    model("perceptron", (784,), [dense(256), layer("Dropout", rate=0.2), dense(128), softmax()], batch=64),
    model("small cnn", (28, 28, 1), [
        conv(16), layer("MaxPooling2D"), conv(32), layer("MaxPooling2D"), layer("Flatten"), softmax(),
    ]),
    model(
        "cnn with normalisation",
        (32, 32, 3),
        [
            layer("Conv2D", filters=16, kernel_size=3, padding="same", use_bias=False),
            layer("BatchNormalization"), layer("ReLU"), layer("MaxPooling2D"),
            layer("Conv2D", filters=32, kernel_size=3, padding="same", use_bias=False),
            layer("BatchNormalization"), layer("ReLU"), layer("GlobalAveragePooling2D"), softmax(),
        ],
        optimizer="sgd",
    ),
    model("lstm", (20,), [layer("Embedding", input_dim=1000, output_dim=32), layer("LSTM", units=32), dense(1, "sigmoid")],
          words=1000, loss="binary_crossentropy", steps=18),
    model("gru", (24, 8), [layer("GRU", units=24), dense(1, None)], loss="mse", optimizer="rmsprop", steps=18),
    model(
        "attention",
        (32,),
        [
            layer("Embedding", input_dim=2000, output_dim=32),
            layer("MultiHeadAttention", (1, 1), num_heads=2, key_dim=16),
            layer("Add", (1, 2)), layer("LayerNormalization"), dense(64), dense(32, None),
            layer("Add", (4, 6)), layer("GlobalAveragePooling1D"), softmax(4),
        ],
        words=2000,
    ),
    model(
        "separable and residual",
        (32, 32, 3),
        [
            conv(16), layer("SeparableConv2D", filters=16, kernel_size=3, padding="same", activation="relu"),
            layer("Add", (1, 2)), layer("MaxPooling2D"),
            layer("DepthwiseConv2D", kernel_size=3, padding="same"), layer("GlobalAveragePooling2D"), softmax(),
        ],
    ),
    model("autoencoder", (28, 28, 1), [
        conv(16, strides=2), conv(8, strides=2),
        layer("Conv2DTranspose", filters=16, kernel_size=3, strides=2, padding="same", activation="relu"),
        layer("Conv2DTranspose", filters=1, kernel_size=3, strides=2, padding="same", activation="sigmoid"),
    ], loss="mse"),
    model("sequence convolution", (100, 4), [
        layer("Conv1D", filters=32, kernel_size=5, activation="relu"), layer("MaxPooling1D"),
        layer("Conv1D", filters=32, kernel_size=5, activation="relu"), layer("GlobalMaxPooling1D"), dense(1, "sigmoid"),
    ], loss="binary_crossentropy", batch=64),
    model("wide output", (300,), [dense(48), dense(600, "sigmoid")], loss="binary_crossentropy", batch=64),
    model("averaged words", (60,), [
        layer("Embedding", input_dim=5000, output_dim=24), layer("GlobalAveragePooling1D"), dense(32), softmax(5),
    ], words=5000),
    model("skipped", (24, 24, 8), [
        conv(16), layer("Conv2D", filters=16, kernel_size=3, padding="same"), layer("Add", (1, 2)), layer("ReLU"),
        layer("Conv2D", (4,), filters=16, kernel_size=1), layer("BatchNormalization"), layer("GlobalAveragePooling2D"),
        softmax(6),
    ]),
    model("both ways", (18, 12), [
        layer("Bidirectional", layer={"kind": "LSTM", "config": {"units": 20}}), dense(24, "tanh"), dense(1, None),
    ], loss="mse", steps=18),
)  # fmt: skip


def spec_of(about: Mapping[str, Any]) -> ModelSpec:
    """A model as a prediction is asked about it."""
    tensors = [Tensor(about["dtype"], (about["batch"], *about["input"]))]
    layers = []
    for number, each in enumerate(about["layers"]):
        sources = tuple(tensors[place] for place in each["from"] or [-1])
        spec = LayerSpec(each["kind"], sources, each["config"], path=f"{each['kind'].lower()}_{number}")
        layers.append(spec)
        tensors.append(layer_cost(spec).output)
    return ModelSpec(tuple(layers), about["optimizer"])
