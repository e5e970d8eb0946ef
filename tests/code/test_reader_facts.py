"""What code leaves behind on objects that are not its own: attributes set from outside, registries, shared lists."""

from __future__ import annotations

import pytest

from energy_code.workspace.document import Document

REGISTRY = """\
import keras
MODELS = {}
def register(name):
    def decorate(function):
        if name in MODELS:
            raise KeyError(name)
        MODELS[name] = function
        return function
    return decorate
@register("dense")
def dense():
    return keras.Sequential()
@register("deep")
def deep():
    return keras.Model()
MODELS["dense"]().fit()
def run(name):
    MODELS[name]().evaluate()
"""


def test_functions_that_a_decorator_registers(apis_of):
    assert apis_of(REGISTRY) == [
        (12, "keras.Sequential"),
        (15, "keras.Model"),
        (16, "keras.Sequential.fit"),
        (18, "keras.Sequential.evaluate"),
    ]


def test_a_registry_that_is_an_object_or_a_class(apis_of):
    assert apis_of(
        """
        import keras
        class Registry:
            shared = {}
            def __init__(self):
                self.items = {}
            def register(self, name):
                def decorate(function):
                    self.items[name] = function
                    return function
                return decorate
        registry = Registry()
        @registry.register("net")
        def net(): return keras.Sequential()
        registry.items["net"]().fit()
        def share(name, value):
            Registry.shared[name] = value
        share("net", net)
        Registry.shared["net"]().predict()
        """
    ) == [(13, "keras.Sequential"), (14, "keras.Sequential.fit"), (18, "keras.Sequential.predict")]


def test_classes_that_a_decorator_registers(apis_of):
    assert apis_of(
        """
        import keras
        NETS = {}
        def register(name):
            def add(cls):
                NETS[name] = cls
                return cls
            return add
        @register("net")
        class Net(keras.Model):
            pass
        NETS["net"]().fit()
        """
    ) == [(11, "keras.Model.fit")]


def test_lists_and_dictionaries_that_functions_fill(apis_of):
    assert apis_of(
        """
        from keras import layers
        LAYERS, CACHE = [], {}
        def add(units):
            LAYERS.append(layers.Dense(units))
            CACHE.setdefault(units, layers.Dropout(0.1))
        add(1)
        for layer in LAYERS: layer.get_config()
        CACHE[1].get_config()
        """
    ) == [
        (4, "keras.layers.Dense"),
        (5, "keras.layers.Dropout"),
        (7, "keras.layers.Dense.get_config"),
        (8, "keras.layers.Dropout.get_config"),
    ]


def test_attributes_set_from_outside(apis_of):
    assert apis_of(
        """
        import keras
        class Job:
            model = None
            def run(self):
                self.model.fit()
                self.tuned.evaluate()
        class Net(keras.Model):
            def __init__(self):
                super().__init__()
                for i in range(2):
                    setattr(self, f"dense{i}", keras.layers.Dense(i))
                setattr(self, "head", keras.layers.Dense(1))
            def call(self, x):
                for i in range(2):
                    x = getattr(self, f"dense{i}")(x)
                return self.head(x)
        def prepare(job):
            job.tuned = keras.Model()
        job = Job()
        job.model = keras.Sequential()
        prepare(job)
        job.run()
        """
    ) == [
        (5, "keras.Sequential.fit"),
        (6, "keras.Model.evaluate"),
        (9, "keras.Model.__init__"),
        (11, "keras.layers.Dense"),
        (12, "keras.layers.Dense"),
        (15, "keras.layers.Dense.__call__"),
        (16, "keras.layers.Dense.__call__"),
        (18, "keras.Model"),
        (20, "keras.Sequential"),
    ]


def test_the_model_that_a_callback_works_on(apis_of):
    assert apis_of(
        """
        import keras
        class Watch(keras.callbacks.Callback):
            def on_epoch_end(self, epoch, logs=None):
                self.model.head(1)
                self.model.predict(2)
        class Net(keras.Model):
            head = keras.layers.Dense(1)
        watch = [Watch(), keras.callbacks.CSVLogger("log")]
        Net().fit(1, callbacks=watch)
        """
    ) == [
        (4, "keras.layers.Dense.__call__"),
        (5, "keras.Model.predict"),
        (7, "keras.layers.Dense"),
        (8, "keras.callbacks.CSVLogger"),
        (9, "keras.Model.fit"),
    ]


def test_the_loss_that_a_model_is_compiled_with(apis_of):
    assert apis_of(
        """
        import keras
        class Net(keras.Model):
            def train_step(self, data):
                self.loss(data, data)
        Net().compile("sgd", loss=keras.losses.Huber())
        """
    ) == [(4, "keras.losses.Huber.__call__"), (5, "keras.Model.compile"), (5, "keras.losses.Huber")]


def test_what_a_loaded_model_gives(apis_of):
    assert apis_of(
        """
        import tensorflow as tf
        loaded = tf.saved_model.load("folder")
        loaded(1).numpy()
        loaded.signatures["serving_default"](x=1)["y"].numpy()
        """
    ) == [
        (2, "tensorflow.saved_model.load"),
        (3, "tensorflow.Tensor.numpy"),
        (4, "tensorflow.Tensor.numpy"),
        (4, "tensorflow.types.experimental.ConcreteFunction.__call__"),
    ]


def test_a_registry_in_a_module_of_its_own(make_project):
    project = make_project(
        {
            "registry.py": """
            MODELS = {}
            def register(name):
                def decorate(function):
                    MODELS[name] = function
                    return function
                return decorate
            """,
            "main.py": """
            import keras
            from registry import MODELS, register
            @register("net")
            def net(): return keras.Sequential()
            MODELS["net"]().fit()
            """,
        }
    )
    project.index()
    analysis = project.analyse(project.root / "main.py")
    assert [call.api for call in analysis.calls] == ["keras.Sequential", "keras.Sequential.fit"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('@register("dense")\n', ""),
        ("        MODELS[name] = function\n", ""),
        ("MODELS[name] = function", "MODELS[name] = None"),
        ("MODELS = {}", "MODELS = None"),
        ("return keras.Sequential()", "return None"),
        ('@register("dense")', '@register("other")'),
        ("MODELS[name] = function", 'MODELS["dense"] = function'),
        ('@register("deep")\ndef deep():\n    return keras.Model()\n', ""),
    ],
)
def test_after_an_edit_the_registry_holds_what_the_program_puts_there(old, new):
    document = Document(REGISTRY)
    before = list(document.analysis.calls)
    place = REGISTRY.index(old)
    document.edit(place, place + len(old), new.encode())
    assert list(document.analysis.calls) == list(Document(document.source).analysis.calls)
    document.edit(place, place + len(new), old.encode())
    assert list(document.analysis.calls) == before
