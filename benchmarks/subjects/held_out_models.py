"""Models that no calibration has seen: what `benchmarks/prediction.py` tries predictions on."""

from __future__ import annotations

from energy_measure.calibration.reference_models import Layer, Model, conv, dense, layer, model, softmax


def residual(filters: int, at: int) -> list[Layer]:
    """Two convolutions around which the input is added; `at`: the number of the tensor that goes in."""
    return [
        layer("Conv2D", (at,), filters=filters, kernel_size=3, padding="same", activation="relu"),
        layer("Conv2D", filters=filters, kernel_size=3, padding="same"),
        layer("Add", (at, at + 2)),
        layer("ReLU"),
    ]


def embedded(words: int, width: int) -> Layer:
    return layer("Embedding", input_dim=words, output_dim=width)


HELD_OUT: tuple[Model, ...] = (
    model("logistic regression", (30,), [dense(1, "sigmoid")], loss="binary_crossentropy", batch=64, steps=40),
    model("regression", (13,), [dense(64), dense(64), dense(1, None)], loss="mse", optimizer="rmsprop", steps=40),
    model("wide perceptron", (784,), [dense(512), layer("Dropout", rate=0.2), dense(512), softmax()], batch=128),
    model("fashion", (28, 28), [layer("Flatten"), dense(128), softmax()]),
    model("normalised perceptron", (100,), [dense(200), layer("BatchNormalization"), dense(100), softmax(5)]),
    model("lenet", (32, 32, 1), [
        conv(6, 5), layer("AveragePooling2D", pool_size=2), conv(16, 5), layer("AveragePooling2D", pool_size=2),
        layer("Flatten"), dense(120, "tanh"), dense(84, "tanh"), softmax(),
    ]),
    model("mnist cnn", (28, 28, 1), [
        conv(32), layer("MaxPooling2D"), conv(64), layer("MaxPooling2D"), layer("Flatten"),
        layer("Dropout", rate=0.5), softmax(),
    ], batch=128, steps=12),
    model("vgg-like", (32, 32, 3), [
        conv(32), conv(32), layer("MaxPooling2D"), conv(64), conv(64), layer("MaxPooling2D"), layer("Flatten"),
        dense(128), softmax(),
    ], steps=12),
    model("residual", (32, 32, 3), [conv(16), *residual(16, 1), layer("GlobalAveragePooling2D"), softmax()], steps=12),
    model("strided", (64, 64, 3), [conv(16, strides=2), conv(32, strides=2), conv(64, strides=2),
                                   layer("GlobalAveragePooling2D"), softmax(3)], batch=16),
    model("mobile", (32, 32, 3), [
        conv(16, strides=2), layer("DepthwiseConv2D", kernel_size=3, padding="same"), layer("BatchNormalization"),
        layer("ReLU"), layer("Conv2D", filters=32, kernel_size=1), layer("BatchNormalization"), layer("ReLU"),
        layer("GlobalAveragePooling2D"), softmax(),
    ]),
    model("pointwise", (16, 16, 32), [layer("Conv2D", filters=64, kernel_size=1, activation="relu"),
                                      layer("Conv2D", filters=32, kernel_size=1), layer("Flatten"), softmax()]),
    model("dense autoencoder", (784,), [dense(64), dense(784, "sigmoid")], loss="binary_crossentropy", batch=64),
    model("convolutional autoencoder", (28, 28, 1), [
        conv(16), layer("MaxPooling2D"), conv(8), layer("UpSampling2D"),
        layer("Conv2D", filters=1, kernel_size=3, padding="same", activation="sigmoid"),
    ], loss="mse", steps=12),
    model("decoder", (16,), [dense(7 * 7 * 16), layer("Reshape", target_shape=(7, 7, 16)),
          layer("Conv2DTranspose", filters=16, kernel_size=3, strides=2, padding="same", activation="relu"),
          layer("Conv2DTranspose", filters=1, kernel_size=3, strides=2, padding="same")], loss="mse"),
    model("lstm on series", (30, 4), [layer("LSTM", units=48), dense(1, None)], loss="mse", steps=12),
    model("stacked lstm", (16, 8), [layer("LSTM", units=32, return_sequences=True), layer("LSTM", units=16),
                                    dense(1, None)], loss="mse", steps=12),
    model("gru on words", (25,), [embedded(3000, 48), layer("GRU", units=40), softmax(3)], words=3000, steps=12),
    model("simple rnn", (20, 6), [layer("SimpleRNN", units=32), dense(1, None)], loss="mse", steps=12),
    model("bag of words", (120,), [embedded(8000, 16), layer("GlobalAveragePooling1D"), dense(16), dense(1, "sigmoid")],
          words=8000, loss="binary_crossentropy", batch=64),
    model("words by convolution", (80,), [embedded(4000, 32), layer("Conv1D", filters=64, kernel_size=5, activation="relu"),
          layer("GlobalMaxPooling1D"), dense(32), dense(1, "sigmoid")], words=4000, loss="binary_crossentropy"),
    model("transformer block", (40,), [
        embedded(3000, 48), layer("MultiHeadAttention", (1, 1), num_heads=4, key_dim=12), layer("Add", (1, 2)),
        layer("LayerNormalization"), dense(96, "gelu"), dense(48, None), layer("Add", (4, 6)),
        layer("LayerNormalization"), layer("GlobalAveragePooling1D"), softmax(2),
    ], words=3000, steps=12),
    model("deep perceptron", (64,), [*(dense(128) for _ in range(6)), softmax()], optimizer="adamw"),
    model("one dimension", (200, 2), [layer("Conv1D", filters=16, kernel_size=9, strides=2, activation="relu"),
          layer("BatchNormalization"), layer("Conv1D", filters=32, kernel_size=5, activation="relu"),
          layer("GlobalAveragePooling1D"), softmax(4)]),
)  # fmt: skip
"""More than twenty, of the kinds that tutorials and papers train."""
