"""Imports in every form."""

from __future__ import annotations

import pytest

DENSE = "keras.layers.Dense"


@pytest.mark.parametrize(
    ("source", "api"),
    [
        ("import tensorflow as tf\ntf.ones(3)", "tensorflow.ones"),
        ("import tensorflow\ntensorflow.add(1, 2)", "tensorflow.math.add"),
        ("import tensorflow.keras.layers\ntensorflow.keras.layers.Dense(1)", DENSE),
        ("import tensorflow.keras.layers as kl\nkl.Dense(1)", DENSE),
        ("from tensorflow import keras as k\nk.layers.Dense(1)", DENSE),
        ("from tensorflow.keras.layers import Dense as D\nD(1)", DENSE),
        ("from tensorflow.keras.layers import *\nDense(1)", DENSE),
        ("import keras\nkeras.layers.Dense(1)", DENSE),
        ("import tf_keras\ntf_keras.layers.Dense(1)", DENSE),
        ("def f():\n    import tensorflow as tf\n    return tf.ones(3)", "tensorflow.ones"),
        ("try:\n    import tensorflow.keras as K\nexcept ImportError:\n    import keras as K\nK.layers.Dense(1)", DENSE),
        ("try:\n    from gone import ones\nexcept ImportError:\n    from tensorflow import ones\nones(2)", "tensorflow.ones"),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import keras\ndef f(m: 'keras.Model'):\n    m.fit()", "keras.Model.fit"),
        ("import tensorflow.compat.v1 as tf\ntf.Session()", "tensorflow.compat.v1.Session"),
    ],
)  # fmt: skip
def test_an_import_leads_to_the_api(calls_of, source, api):
    assert [call.api for call in calls_of(source)] == [api]


@pytest.mark.parametrize(
    "source",
    [
        "import numpy as np\nnp.ones(3).sum()",
        "from numpy import *\nones(3)",
        "from mylib import tf\ntf.ones(3)",
        "import torch.nn as nn\nnn.Linear(1)(2)",
        "from tensorflow import no_such_name\nno_such_name(1)",
    ],
)
def test_other_libraries_are_not_reported(calls_of, source):
    assert calls_of(source) == []
