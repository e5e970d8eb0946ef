"""Fixes in code as people lay it out: arguments on lines of their own, comments behind them, chains over many lines."""

from __future__ import annotations

import pytest

from energy_code import rules
from energy_code.rule_engine.edits.apply import apply_edits, compatible
from energy_code.workspace.document import Document

HEAD = "import keras\nimport numpy as np\nimport tensorflow as tf\n"
MODEL = 'model = keras.Sequential([keras.layers.Dense(3, "relu"), keras.layers.Dense(1)])\n'
FIT = "model.fit(x, y, epochs=9)\n"
CHAIN = "def f(ds: tf.data.Dataset):\n    return (\n        ds\n{}    )\n"
SCALE = "        .map(lambda x: tf.cast(x, tf.float32) / 255.0){}\n"
TRACED = "@tf.function({})\ndef total(v):\n    return tf.reduce_sum(v)\n\n\nfor n in range(1, 9):\n    y = total(x[:n])\n"
LAYOUTS = {
    "an argument on its line": (
        "run-eagerly",
        MODEL + 'model.compile(\n    loss="mse",\n    run_eagerly=True,\n)\n',
        MODEL + 'model.compile(\n    loss="mse",\n)\n',
    ),
    "the last argument on its line, without a comma": (
        "run-eagerly",
        MODEL + 'model.compile(\n    loss="mse",\n    run_eagerly=True\n)\n',
        MODEL + 'model.compile(\n    loss="mse",\n)\n',
    ),
    "an argument with a comment": (
        "run-eagerly",
        MODEL + 'model.compile(\n    loss="mse",\n    run_eagerly=True,  # to look inside\n)\n',
        MODEL + 'model.compile(\n    loss="mse",\n    # to look inside\n)\n',
    ),
    "an argument between others on a line": (
        "run-eagerly",
        MODEL + 'model.compile(\n    loss="mse", run_eagerly=True, metrics=[],  # three\n)\n',
        MODEL + 'model.compile(\n    loss="mse", metrics=[],  # three\n)\n',
    ),
    "a new argument before a comment": (
        "steps-per-execution",
        MODEL + f'model.compile(\n    loss="mse",  # squares\n)\n{FIT}',
        MODEL + f'model.compile(\n    loss="mse", steps_per_execution=8,  # squares\n)\n{FIT}',
    ),
    "a new argument of a call without any": (
        "steps-per-execution",
        MODEL + f"model.compile(\n    # nothing yet\n)\n{FIT}",
        MODEL + f"model.compile(steps_per_execution=8\n    # nothing yet\n)\n{FIT}",
    ),
    "a new argument behind a comma": (
        "retrace-shape",
        TRACED.format("\n    autograph=False,\n"),
        TRACED.format("\n    autograph=False, reduce_retracing=True,\n"),
    ),
    "links with comments": (
        "batch-map",
        CHAIN.format(SCALE.format("  # scaled") + "        .batch(4)  # by four\n        .prefetch(1)\n"),
        CHAIN.format(
            "        .batch(4)  # by four\n" + SCALE.format("  # scaled") + "        .prefetch(1)\n"
        ),
    ),
    "links on lines, the last before a bracket": (
        "batch-map",
        CHAIN.format(SCALE.format("") + "        .batch(4))\n").removesuffix("    )\n"),
        CHAIN.format("        .batch(4)\n" + SCALE.format(")")).removesuffix("    )\n"),
    ),
    "imports on one line": (
        "np-stack",
        "import numpy as onp, os\nx = tf.constant([onp.asarray(r) for r in rows], dtype=tf.float32)\n",
        "import numpy as onp, os\nx = tf.constant(onp.stack([onp.asarray(r) for r in rows]), dtype=tf.float32)\n",
    ),
    "a counter among floating-point numbers": (
        "retrace-scalar",
        "@tf.function\ndef f(v, n):\n    return v * n\n\n\nfor n in range(3):\n    y = f(tf.ones([2]), n)\n",
        "@tf.function\ndef f(v, n):\n    return v * n\n\n\n"
        "for n in range(3):\n    y = f(tf.ones([2]), tf.constant(n, tf.float32))\n",
    ),
}


@pytest.mark.parametrize(("name", "before", "after"), LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_a_fix_fits_the_layout(name, before, after, newline):
    head = HEAD if "numpy" not in before else HEAD.replace("import numpy as np\n", "")
    source, expected = ((head + code).replace("\n", newline) for code in (before, after))
    found = rules.find(Document(source).analyse(), [rules.ALL[name]])
    rewritten = apply_edits(source, compatible(found))
    assert rewritten == expected
    compile(rewritten, "rewritten", "exec")
    assert rules.find(Document(rewritten).analyse(), [rules.ALL[name]]) == []
