"""Models whose layers are run one by one, for `inside.py isolated`.

What a layer costs by itself is told by another process, which nothing looks into: in the process that is looked into
the profiler, and writing its profiles, would count as the layers' own. Layers take turns, a few calls each, and the
median of the turns counts, so that neither a busy moment nor a colder cache is one layer's alone. CPU time stands for
energy; that of calling a function with nothing in it is taken off.

What a layer costs by itself depends on what ran before it: its inputs are in a cache or not, memory is at hand or not.
So the same layers are timed once more one after the other, each on what the one before it gave, as in the model. How far
the two references are apart is how well the truth itself is known.
"""

from __future__ import annotations

MODELS = {
    "tuned": """
shape = (24, 24, 8)
sizes = [layers.Conv2D(24, 3, name="one"), layers.Conv2D(32, 5, name="two"), layers.Flatten(name="flat"),
    layers.Dense(160, name="three"), layers.Dense(64, name="four")]
""",
    "dense": """
shape = (64, 96)
sizes = [layers.Dense(256, activation="relu", name="wide"), layers.Conv1D(96, 5, padding="same", name="along"),
    layers.LayerNormalization(name="norm"), layers.Dense(384, activation="gelu", name="gelu"),
    layers.AveragePooling1D(4, name="pool"), layers.Flatten(name="flat"), layers.Dense(128, name="last")]
""",
    "separable": """
shape = (48, 48, 16)
sizes = [layers.SeparableConv2D(32, 3, padding="same", name="separable"), layers.BatchNormalization(name="batch"),
    layers.Activation("swish", name="swish"), layers.MaxPooling2D(name="pool"), layers.Conv2D(48, 3, name="conv"),
    layers.GlobalAveragePooling2D(name="average"), layers.Dense(512, name="first"),
    layers.Dense(512, activation="tanh", name="second")]
""",
    "recurrent": """
shape = (40, 48)
sizes = [layers.Conv1D(64, 3, name="conv"), layers.LSTM(48, return_sequences=True, name="lstm"),
    layers.Dense(256, activation="gelu", name="wide"), layers.LayerNormalization(name="norm"),
    layers.GRU(32, name="gru"), layers.Dense(256, name="last")]
""",
    "transformer": """
shape = (64, 128)
class Attention(layers.Layer):
    def __init__(self, **options):
        super().__init__(**options)
        self.heads = layers.MultiHeadAttention(4, 32)
    def call(self, inputs):
        return inputs + self.heads(inputs, inputs)
sizes = [Attention(name="attention"), layers.LayerNormalization(name="norm"),
    layers.Dense(512, activation="gelu", name="up"), layers.Dense(128, name="down"),
    layers.LayerNormalization(name="norm2"), layers.Flatten(name="flat"), layers.Dense(64, name="head")]
""",
    "pyramid": """
shape = (40, 40, 12)
sizes = [layers.Conv2D(32, 5, strides=2, padding="same", name="down"), layers.GroupNormalization(8, name="group"),
    layers.PReLU(name="prelu"), layers.DepthwiseConv2D(3, padding="same", name="depthwise"),
    layers.UpSampling2D(2, name="up"), layers.Conv2DTranspose(16, 3, name="transposed"),
    layers.GlobalMaxPooling2D(name="most"), layers.Dense(256, name="last")]
""",
}
"""On "tuned" the percentile of weights (`splitting.PERCENTILE`) was chosen; on the next four what tells a busy machine
(`splitting.UNEVEN`); on "pyramid" nothing."""
PROGRAM = """
import json, sys, time
import keras
import tensorflow as tf
from keras import layers
LAYERS
x = tf.random.normal((32, *shape))
step = tf.function(keras.Sequential([keras.Input(shape), *sizes]))
step(x)
if sys.argv[1] == "model":
    for _ in range(REPEAT):
        step(x)
    sys.exit()
names, functions, inputs = [], [], [x]
for layer in sizes:
    names.append(layer.name)
    functions.append(tf.function(layer))
    inputs.append(functions[-1](inputs[-1]))
names.append("nothing")
functions.append(tf.function(lambda values: values))
turns, in_order = {name: [] for name in names}, {name: [] for name in names}
def costs(turns):
    middle = {name: sorted(own[5:])[len(own[5:]) // 2] for name, own in turns.items()}
    calling = middle.pop("nothing")
    return {name: max(0.0, own - calling) for name, own in middle.items()}
for turn in range(5 + REPEAT // 4):
    for name, function, values in zip(names, functions, inputs):
        before = time.process_time()
        for _ in range(4):
            function(values)
        turns[name].append(time.process_time() - before)
for turn in range(5 + REPEAT):
    values = x
    for name, function in zip(names, functions):
        before = time.process_time()
        values = function(values)
        in_order[name].append(time.process_time() - before)
with open("isolated.json", "w") as file:
    json.dump({"turns": costs(turns), "in order": costs(in_order)}, file)
"""
"""`model`: the steps that are looked into; `layers`: what each layer costs by itself."""


def program(model: str, repeat: int) -> str:
    """The text of the program for a model."""
    return PROGRAM.replace("LAYERS", MODELS[model]).replace("REPEAT", str(repeat))
