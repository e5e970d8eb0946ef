"""Shapes that the source of a file tells, and those that it does not."""

from __future__ import annotations

import pytest

from energy_code.static_shapes.libraries.known_datasets import TFDS
from energy_code.static_shapes.program import shapes_in

HEAD = "import numpy as np\nimport tensorflow as tf\nimport keras\nfrom keras import layers\n"


def shapes(source):
    found = sorted(shapes_in(HEAD + source).items())
    return [" and ".join(each.shape for each in asked) for _, asked in found]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("tf.exp(np.zeros((3, 4), dtype='float32'))", ["float32[3,4]"]),
        ("N = 8\ntf.exp(tf.zeros([N, N * 2]))", ["shape=[8, 16]", "float32[8,16]"][::-1]),
        ("x = np.random.rand(60, 28, 28)\ntf.exp(x[..., None].astype('float32'))", ["float32[60,28,28,1]"]),
        (
            "r = np.random.default_rng(1)\ntf.exp(r.normal(0.0, 1.0, (5, 6)).astype(np.float32))",
            ["float32[5,6]"],
        ),
        ("x = np.ones((10, 4))\nfor i in range(3):\n    tf.exp(x[i : i + 2])", ["float64[2,4]"]),
        ("def f(n):\n    return np.zeros((n, 2))\ntf.exp(f(4))", ["float64[4,2]"]),
        ("(x, y), _ = keras.datasets.mnist.load_data()\ntf.exp(x / 255.0)", ["float64[60000,28,28]"]),
        ("tf.exp(tf.reduce_sum(tf.ones((4, 6)), axis=1))", ["float32[4]", "float32[4,6]", "shape=(4, 6)"]),
        ("x = np.zeros((4, 4))\nif input():\n    x = np.zeros((5, 4))\ntf.exp(x)", ["float64[?,4]"]),
        ("x = np.zeros((4, 4))\nfor i in range(9):\n    tf.exp(x)\n    x = load(x)", []),
        (
            "def f(x):\n    tf.exp(x)\nf(np.zeros((2, 2)))\nf(np.zeros((3, 3)))",
            ["float64[2,2] and float64[3,3]"],
        ),
        ("tf.exp(open('data').read())", []),
        ("tf.exp(np.zeros((int(input()), 2)))", ["float64[?,2]"]),
        ("this is no Python", []),
    ],
)
def test_what_a_call_is_given(source, expected):
    assert shapes(source) == expected


MODEL = """
x, y = np.zeros((1000, 20), dtype="float32"), np.zeros((1000,))
model = keras.Sequential([{start}layers.Dense(8, activation="relu"), layers.Dense(3)])
model.compile(optimizer=keras.optimizers.SGD(momentum=0.9), loss="mse")
model.fit({given})
"""


def fit_of(start="", given="x, y"):
    found = [
        each
        for asked in shapes_in(HEAD + MODEL.format(start=start, given=given)).values()
        for each in asked
        if each.job is not None
    ]
    return found[0] if found else None


@pytest.mark.parametrize(
    ("given", "steps", "epochs", "validation"),
    [
        ("x, y", 32, 1, 0),
        ("x, y, 100, 3", 10, 3, 0),
        ("x, y, batch_size=64, epochs=2, validation_split=0.2", 13, 2, 4),
        ("x, y, validation_data=(x[:100], y[:100])", 32, 1, 4),
        ("tf.data.Dataset.from_tensor_slices((x, y)).shuffle(9).batch(50), epochs=4", 20, 4, 0),
        ("x, y, steps_per_epoch=5", 5, 1, 0),
        ("x, y, steps_per_epoch=5, validation_data=(x[:100], y[:100])", 5, 1, 1),
        ("x, y, 50, validation_data=(x[:100], y[:100]), validation_steps=1", 20, 1, 1),
    ],
)
def test_steps_and_epochs_of_a_fit(given, steps, epochs, validation):
    job = fit_of(given=given).job
    assert (job.steps, job.epochs, job.validation_steps, job.first) == (steps, epochs, validation, True)


def test_steps_without_a_batch_size_make_batches_that_large():
    assert fit_of(given="x, y, steps_per_epoch=5").model.layers[0].inputs[0].shape == (200, 20)
    assert fit_of(given="x, y, 40, steps_per_epoch=5").model.layers[0].inputs[0].shape == (40, 20)


@pytest.mark.parametrize("given", ["load()", "x, y, epochs=int(input())", "x, y, validation_data=load()"])
def test_a_fit_that_the_source_does_not_tell_has_no_figure(given):
    assert fit_of(given=given) is None


@pytest.mark.parametrize("start", ["", "keras.Input((20,)), ", "layers.InputLayer(input_shape=(20,)), "])
def test_layers_of_a_sequential_model_know_their_inputs(start):
    model = fit_of(start).model
    dense = [layer for layer in model.layers if layer.kind == "Dense"]
    assert [str(layer.inputs[0]) for layer in dense] == ["float32[32,20]", "float32[32,8]"]
    assert {layer.line for layer in dense} == {7}
    assert model.optimizer == "Momentum"


def test_a_functional_model_is_the_layers_that_lead_to_its_output():
    source = """
inputs = keras.Input((16, 16, 3))
a = layers.Conv2D(8, 3, padding="same")(inputs)
b = layers.Conv2D(8, 1)(a)
joined = layers.Add()([a, b])
outputs = layers.Dense(2)(layers.GlobalAveragePooling2D()(joined))
model = keras.Model(inputs, outputs)
model.compile("adam", "mse")
model.evaluate(np.zeros((64, 16, 16, 3)))
"""
    ((asked,),) = [found for found in shapes_in(HEAD + source).values() if found[0].job]
    kinds = [layer.kind for layer in asked.model.layers]
    assert kinds == ["InputLayer", "Conv2D", "Conv2D", "Add", "GlobalAveragePooling2D", "Dense"]
    assert asked.model.optimizer == "adam"
    assert [str(each) for each in asked.model.layers[3].inputs] == ["float32[32,16,16,8]"] * 2


def test_the_second_fit_of_a_model_traces_no_more():
    source = HEAD + MODEL.format(start="", given="x, y") + "model.fit(x, y)\n"
    assert [asked[0].job.first for _, asked in sorted(shapes_in(source).items())] == [True, False]


STEPS = """
x, y = np.zeros((1000, 20), dtype="float32"), np.zeros((1000,), dtype="int32")
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(64)
model = keras.Sequential([layers.Dense(8, activation="relu"), layers.Dense(3)])
optimizer, loss = keras.optimizers.Adam(), keras.losses.SparseCategoricalCrossentropy()

@tf.function
def train_step(a, b):
    with tf.GradientTape() as tape:
        missed = loss(b, model(a, training=True))
    optimizer.apply_gradients(zip(tape.gradient(missed, model.trainable_variables), model.trainable_variables))
    return tf.reduce_mean(missed)

for epoch in range(3):
    for a, b in data.take(10):
        train_step(a, b)
model(x[:32])
tf.exp(x)
tf.exp(x)
"""


def test_compiled_steps_are_models_called_by_name():
    found = {place[0]: asked for place, asked in shapes_in(HEAD + STEPS).items()}
    (step,) = found[20]
    assert (step.name, step.shape, step.times) == ("train_step", "float32[64,20], int32[64]", 30)
    assert (step.job.method, step.job.first, step.model.optimizer) == ("compiled", True, "Adam")
    assert [layer.kind for layer in step.model.layers].count("Dense") == 2
    assert all(each.inside for each in found[14])  # what it does is in its own figure
    (called,) = found[21]
    assert (called.job.method, called.shape) == ("call", "float32[32,20]")


def test_the_first_call_of_an_api_is_told_from_later_ones():
    found = {place[0]: asked for place, asked in shapes_in(HEAD + STEPS).items()}
    assert [found[line][0].first for line in (22, 23)] == ["api", ""]
    alone = shapes_in(HEAD + "tf.exp(np.zeros((3, 4)))\ntf.math.log(np.zeros((3, 4)))")
    assert [asked[0].first for _, asked in sorted(alone.items())] == ["process", "api"]


OWN = """
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.a, self.b = layers.Dense(8), layers.Dense(3)
    def call(self, x):
        return self.b(self.a(x))
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = self.compute_loss(x=x, y=y, y_pred=self(x, training=True))
        self.optimizer.apply(tape.gradient(loss, self.trainable_variables), self.trainable_variables)
        return {"loss": loss}
net = Net()
net.compile("adam", "mse")
net.fit(np.zeros((100, 20), dtype="float32"), np.zeros((100, 3)), batch_size=30)
"""


def test_a_step_of_the_programs_own_is_gone_through():
    (fit,) = [each for asked in shapes_in(HEAD + OWN).values() for each in asked if each.job is not None]
    assert (fit.job.method, fit.job.steps, fit.job.last) == ("fit", 4, pytest.approx(1 / 3))
    assert [layer.kind for layer in fit.model.layers] == ["InputLayer", "Dense", "Dense"]


def test_datasets_are_as_their_catalogue_says():
    source = "import tensorflow_datasets as tfds\nds = tfds.load('{}', split='train', as_supervised=True)\n"
    assert shapes(source.format("imagenette") + "tf.exp(tf.zeros(len(ds)))") == [
        "float32[9469]",
        "shape=9469",
    ]
    assert TFDS["glue/sst2"].supervised is None  # it has no such form
    assert [str(each) for each in TFDS["omniglot"].supervised] == ["uint8[105,105,3]", "int64[]"]


TRANSFER = """
from tensorflow.keras.applications.mobilenet_v2 import MobileNetV2, preprocess_input
base = MobileNetV2(input_shape=(96, 80, 3), include_top=False, weights="imagenet")
base.trainable = False
inputs = keras.Input((96, 80, 3))
x = base(preprocess_input(inputs), training=False)
model = keras.Model(inputs, layers.Dense(5)(layers.GlobalAveragePooling2D()(x)))
model.compile("adam", "mse")
model.fit(np.zeros((64, 96, 80, 3)), np.zeros((64, 5)), batch_size=16)
"""


def test_a_model_of_keras_applications_is_a_layer_with_its_line():
    found = shapes_in(HEAD + TRANSFER)
    told = [each.shape for _, asked in sorted(found.items()) for each in asked]
    assert "float32[?,3,3,1280]" in told
    (fit,) = [each for asked in found.values() for each in asked if each.job is not None]
    base = fit.model.layers[1]
    assert (base.kind, base.line, base.config["trainable"]) == ("applications.MobileNetV2", 7, False)
    assert [layer.kind for layer in fit.model.layers[2:]] == ["GlobalAveragePooling2D", "Dense"]


NAMED_INPUTS = """
a, b = keras.Input((4,), name="zebra"), keras.Input((7,), name="ant")
model = keras.Model([a, b], layers.Concatenate()([layers.Dense(3)(a), b]))
model.compile("sgd", "mse")
model.fit({"ant": np.zeros((64, 7)), "zebra": np.zeros((64, 4))}, np.zeros((64, 10)))
"""


def test_a_dictionary_gives_each_input_what_bears_its_name():
    (fit,) = [each for asked in shapes_in(HEAD + NAMED_INPUTS).values() for each in asked if each.job]
    assert fit.shape == "float64[64,7], float64[64,4]"  # as it was written, and as a run notes it
    dense = next(layer for layer in fit.model.layers if layer.kind == "Dense")
    assert [str(tensor) for tensor in dense.inputs] == ["float32[32,4]"]


def test_a_copy_of_a_model_has_its_layers_and_nothing_of_its_past():
    source = """
model = keras.Sequential([keras.Input((6,)), layers.Dense(3)])
model.compile("adam", "mse")
model.fit(np.zeros((64, 6)), np.zeros((64, 3)))
copy = keras.models.clone_model(model)
copy.compile("sgd", "mse")
copy.fit(np.zeros((64, 6)), np.zeros((64, 3)))
"""
    first, second = [
        each for _, asked in sorted(shapes_in(HEAD + source).items()) for each in asked if each.job
    ]
    assert [layer.kind for layer in second.model.layers] == [layer.kind for layer in first.model.layers]
    assert second.job.first
    assert (first.model.optimizer, second.model.optimizer) == ("adam", "sgd")


EAGER = """
model = keras.Sequential([layers.Input((20,)), layers.Dense(8), layers.Dense(3)])
optimizer = keras.optimizers.SGD(0.1)
loss_of = keras.losses.MeanSquaredError()
x, y = tf.zeros((64, 20)), tf.zeros((64, 3))
for step in range(10):
    with tf.GradientTape() as tape:
        missed = loss_of(y, {called}(x, training=True))
    gradients = tape.gradient(missed, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
"""


def jobs(source):
    return {
        each.job.method: each
        for asked in shapes_in(HEAD + source).values()
        for each in asked
        if each.job is not None
    }


def test_an_eager_step_goes_back_through_what_the_tape_saw():
    found = jobs(EAGER.format(called="model"))
    assert set(found) == {"call", "gradient", "update"}
    assert [layer.kind for layer in found["gradient"].model.layers] == ["InputLayer", "Dense", "Dense"]
    assert found["update"].model.optimizer == "SGD"
    assert all(each.job.first and each.shape == "float32[64,20]" for each in found.values())


def test_a_tape_that_saw_something_unknown_has_no_gradient_with_a_figure():
    assert jobs(EAGER.format(called="something_else")) == {}
    assert set(jobs(EAGER.format(called="model").replace("layers.Dense(8)", "unknown()"))) == set()


def test_a_step_in_a_graph_is_one_call():
    inside = EAGER.format(called="model").replace("for step in range(10):", "@tf.function\ndef step(x, y):")
    assert set(jobs(inside + "step(x, y)\n")) == {"compiled"}


def test_only_the_first_method_of_any_model_starts_a_program():
    source = MODEL.format(start="", given="x, y") + "model.evaluate(x, y)\n"
    assert {method: asked.job.start for method, asked in jobs(source).items()} == {
        "fit": True,
        "evaluate": False,
    }


@pytest.mark.parametrize(
    ("calls", "first"),
    [
        ("model.fit(x, y, batch_size=50)\nmodel.fit(x, y, batch_size=50)", [True, False]),
        ("model.fit(x, y, batch_size=50)\nmodel.fit(x, y, batch_size=20)", [True, True]),
        (
            "model.fit(x, y, batch_size=50)\nmodel.fit(x, y, batch_size=20)\nmodel.fit(x, y, batch_size=10)",
            [True, True, False],
        ),
        (
            "model.fit(x, y)\nmodel.fit(x, y, batch_size=50)",
            [True, False],
        ),  # 1000 rows leave a rest: any size
        ("model.fit(x, y, validation_split=0.2)\nmodel.evaluate(x, y, batch_size=100)", [True, False]),
        ("model.fit(x, y, 50, validation_split=0.2)\nmodel.evaluate(x, y, batch_size=100)", [True, True]),
    ],
)
def test_a_graph_is_traced_again_for_another_size_of_batches(calls, first):
    source = MODEL.rpartition("model.fit")[0].format(start="") + calls
    found = sorted(shapes_in(HEAD + source).items())
    assert [each.job.first for _, asked in found for each in asked if each.job is not None] == first
