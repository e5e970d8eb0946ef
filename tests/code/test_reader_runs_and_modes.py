"""How often a call runs and in which mode, where the source tells."""

from __future__ import annotations


def runs_by_api(calls):
    return {call.api: tuple(call.runs) for call in calls}


def test_constant_loops_multiply(calls_of):
    calls = calls_of(
        """
        import tensorflow as tf
        EPOCHS = 10
        model = tf.keras.Sequential()
        for epoch in range(EPOCHS):
            for item in [1, 2, 3]:
                tf.ones(1)
            model.fit(x, epochs=5)
            while busy():
                tf.zeros(1)
        for x in unknown: tf.abs(x)
        [tf.square(i) for i in range(2, 8, 2)]
        def per_entry():
            for _ in range(4): tf.eye(3)
        for _ in range(100): per_entry()
        """
    )
    assert runs_by_api(calls) == {
        "keras.Sequential": (1, False, 1),
        "tensorflow.ones": (30, False, 1),
        "keras.Sequential.fit": (10, False, 5),
        "tensorflow.zeros": (10, True, 1),
        "tensorflow.math.abs": (1, True, 1),
        "tensorflow.math.square": (3, False, 1),
        "tensorflow.eye": (4, False, 1),
    }


def test_a_longer_difference_is_not_its_first_number_negated(calls_of):
    calls = calls_of(
        """
        import tensorflow as tf
        for _ in range(12 - first - second): tf.ones(1)
        for _ in range(-(-3)): tf.zeros(1)
        """
    )
    assert runs_by_api(calls) == {"tensorflow.ones": (1, True, 1), "tensorflow.zeros": (3, False, 1)}


def test_how_far_an_attribute_has_counted_is_not_known(calls_of):
    calls = calls_of(
        """
        import tensorflow as tf
        class Trainer:
            width = 3
            steps = 0
            left = 5
            def __call__(self):
                self.steps += 1
                self.left = self.left - 1
                for _ in range(self.width): tf.ones(1)
                for _ in range(self.steps): tf.zeros(1)
                for _ in range(self.left): tf.eye(2)
        Trainer()()
        """
    )
    assert runs_by_api(calls) == {
        "tensorflow.ones": (3, False, 1),
        "tensorflow.zeros": (1, True, 1),
        "tensorflow.eye": (1, True, 1),
    }


def test_epochs_by_position_and_from_a_parameter(calls_of):
    calls = calls_of(
        """
        import keras
        def train(model, epochs):
            model.fit(1, 2, 32, epochs)
        train(keras.Sequential(), 7)
        """
    )
    assert runs_by_api(calls)["keras.Sequential.fit"] == (1, False, 7)


def modes_by_api(calls):
    return {call.api: call.mode for call in calls}


def test_functions_that_are_traced_and_what_only_they_call(calls_of):
    calls = calls_of(
        """
        import tensorflow as tf
        def helper(x): return tf.abs(x)
        def shared(x): return tf.square(x)
        @tf.function
        def step(x):
            shared(x)
            return helper(tf.cast(x, "int32"))
        @tf.function(jit_compile=True)
        def fast(x): return only_fast(x)
        def only_fast(x): return tf.exp(x)
        def wrapped(x): return tf.tanh(x)
        graph = tf.function(wrapped)
        shared(1)
        ds = tf.data.Dataset.range(3).map(lambda v: tf.sqrt(v)).filter(keep)
        def keep(v): return tf.greater(v, 1)
        tf.ones(1)
        """
    )
    assert modes_by_api(calls) == {
        "tensorflow.function": "eager",
        "tensorflow.math.abs": "graph",
        "tensorflow.math.square": "eager",
        "tensorflow.cast": "graph",
        "tensorflow.math.exp": "jit",
        "tensorflow.math.tanh": "graph",
        "tensorflow.data.Dataset.range": "eager",
        "tensorflow.data.Dataset.map": "eager",
        "tensorflow.data.Dataset.filter": "eager",
        "tensorflow.math.sqrt": "graph",
        "tensorflow.math.greater": "eager",
        "tensorflow.ones": "eager",
    }


KERAS_STEP = """
import tensorflow as tf
class Net(tf.keras.Model):
    def call(self, x):
        return tf.abs(x)
    def train_step(self, data):
        return {"loss": tf.square(1)}
    def helper(self):
        return tf.exp(1)
net = Net()
"""


def test_methods_that_keras_traces(calls_of):
    modes = modes_by_api(calls_of(KERAS_STEP))
    assert modes == {
        "tensorflow.math.abs": "graph",
        "tensorflow.math.square": "graph",
        "tensorflow.math.exp": "eager",
    }


def test_unless_the_model_runs_eagerly(calls_of):
    modes = modes_by_api(calls_of(KERAS_STEP + "net.compile(run_eagerly=True)\n"))
    assert modes["tensorflow.math.abs"] == "eager"


def test_callers_in_other_files_decide_too(make_project):
    project = make_project(
        {
            "ops.py": "import tensorflow as tf\ndef scale(x):\n    return tf.abs(x)\n",
            "main.py": "import tensorflow as tf\nfrom ops import scale\n@tf.function\ndef f(x):\n    return scale(x)\n",
        }
    )
    project.index()
    analysis = project.analyse(project.root / "ops.py")
    assert analysis is not None
    assert [call.mode for call in analysis.calls] == ["graph"]
