"""Steps taken out of loops: silent wherever a trace would differ or fail, and the same output wherever the rule speaks."""

from __future__ import annotations

import contextlib
import io
import re
import runpy
from pathlib import Path

import pytest

from energy_code import rules
from energy_code.rule_engine.edits.apply import compatible
from energy_measure.tuning.candidate import edited, read_sources

HEAD = """
import numpy as np
import tensorflow as tf
import keras
keras.utils.set_random_seed(0)
rows = np.random.rand(48, 4).astype("float32")
sums = rows.sum(axis=1, keepdims=True)
data = tf.data.Dataset.from_tensor_slices((rows, sums)).batch(16)
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(4, "relu"), keras.layers.Dense(1)])
opt = keras.optimizers.SGD(0.05)
mse = keras.losses.MeanSquaredError()
"""
APPLY = """grads = tape.gradient(loss, model.trainable_weights)
        opt.apply_gradients(zip(grads, model.trainable_weights))"""


def loop(inside: str, *, before: str = "", behind: str = "", epoch: str = "pass", apply: str = APPLY) -> str:
    """Two epochs of a step, with something inside of its tape, before it and behind it."""
    return f"""
for epoch in range(2):
    {epoch}
    for step, (x, y) in enumerate(data):
        {before or "pass"}
        with tf.GradientTape() as tape:
            {inside}
        {apply}
        {behind or "pass"}
    print(epoch, float(loss))
"""


GIVEN = """
def train_one_step(model, optimizer, x, y):
    with tf.GradientTape() as tape:
        loss = mse(y, model(x))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss
"""
PLAIN = "loss = mse(y, model(x))"
SILENT = {
    "two optimizers are given": f"""{GIVEN}
first, second = keras.optimizers.SGD(0.1), keras.optimizers.Adam()
for x, y in data:
    train_one_step(model, first, x, y)
for x, y in data:
    train_one_step(model, second, x, y)
""",
    "an optimizer of each fold is given": f"""{GIVEN}
def fold(number):
    net = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    adam = keras.optimizers.Adam()
    for x, y in data:
        train_one_step(net, adam, x, y)
for number in range(2):
    fold(number)
""",
    "a model that is given is frozen under another name": f"""{GIVEN}
def run(net, optimizer):
    for epoch in range(2):
        for x, y in data:
            train_one_step(net, optimizer, x, y)
        net.layers[0].trainable = False
run(model, opt)
""",
    "the step is also known by another name": f"""{GIVEN}
steps = [train_one_step]
for x, y in data:
    train_one_step(model, opt, x, y)
    steps[0](model, keras.optimizers.Adam(), x, y)
""",
    "an epoch is handed down to the step": """
def step(x, y, epoch):
    with tf.GradientTape() as tape:
        loss = mse(y, model(x)) / (1 + epoch)
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_weights), model.trainable_weights))
def train(epoch):
    for x, y in data:
        step(x, y, epoch)
for number in range(4):
    train(number)
""",
    "a function is given a number of each epoch": """
seen = []
def step(x, y, weight):
    with tf.GradientTape() as tape:
        loss = mse(y, model(x)) * weight
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_weights), model.trainable_weights))
    seen.append(float(loss))
for epoch in range(3):
    for x, y in data:
        step(x, y, 1.0 / (1 + epoch))
""",
    "a string that holds code": loop('loss = mse(y, model(x))\n            note = f"{loss.numpy()}"'),
    "a helper reads what the loop counts down": "scale = 1.0\ndef f(p):\n    return p * scale\n"
    + loop("loss = mse(y, f(model(x)))", epoch="scale *= 0.5"),
    "a lambda reads a list that changes": "k = [1.0]\nf = lambda p: p * k[0]\n"
    + loop("loss = mse(y, f(model(x)))", behind="k[0] *= 0.7"),
    "a function freezes a layer": "def freeze():\n    model.layers[0].trainable = False\n"
    + loop(PLAIN, epoch="freeze()"),
    "a function freezes what it is given": "def freeze(net):\n    net.layers[0].trainable = False\n"
    + loop(PLAIN, epoch="freeze(model)"),
    "a rate of each epoch": loop("loss = mse(y, model(x)) * rate", epoch="rate = 0.1 / (1 + epoch)"),
    "numbers of a list": "w = tf.Variable(1.0)\nfor v in [1.0, 2.0]:\n    with tf.GradientTape() as tape:\n"
    "        loss = (w * v - 3.0) ** 2\n    w.assign_sub(0.1 * tape.gradient(loss, w))\nprint(float(loss))\n",
    "a value that is formatted": loop(
        PLAIN, apply=f'text = f"{{loss:.4f}}"\n        {APPLY}', behind="print(text)"
    ),
    "a value as text": loop(PLAIN, apply=f"text = str(loss)\n        {APPLY}", behind="print(text)"),
    "a method asks for values": "class H:\n    def f(self, p):\n        return p * p.numpy().mean()\nh = H()\n"
    + loop("loss = mse(y, h.f(model(x)))"),
    "a helper of NumPy": "def f(p):\n    return np.round(p, 2)\n" + loop("loss = mse(y, f(model(x)))"),
    "mathematics of Python": "import math\n" + loop("loss = mse(y, model(x)) * math.cos(tf.reduce_sum(x))"),
    "the larger of two in Python": loop("loss = max(mse(y, model(x)), 0.1)"),
    "a comprehension over a tensor": loop("loss = tf.add_n([tf.reduce_sum(model(row[None])) for row in x])"),
    "a layer made in each step": loop("loss = mse(y, keras.layers.Dense(1)(x) + model(x))"),
    "an optimizer made in each step": "def step(x, y):\n    o = keras.optimizers.SGD(0.1)\n"
    "    with tf.GradientTape() as tape:\n        loss = mse(y, model(x))\n"
    "    o.apply_gradients(zip(tape.gradient(loss, model.trainable_weights), model.trainable_weights))\n"
    "    return loss\nfor x, y in data:\n    print(float(step(x, y)))\n",
    "a rate as an argument": "w = tf.Variable(tf.ones((4, 1)))\ndef step(x, y, rate):\n"
    "    with tf.GradientTape() as tape:\n        loss = tf.reduce_mean((x @ w - y) ** 2)\n"
    "    w.assign_sub(rate * tape.gradient(loss, w))\n    return loss\nrate = 0.1\nfor x, y in data:\n"
    "    loss = step(x, y, rate)\n    rate = rate * 0.9\nprint(float(loss))\n",
    "an attribute that is set": "class S: pass\ns = S()\n"
    + loop("s.loss = mse(y, model(x))\n            loss = s.loss", behind="float(s.loss)"),
}
SPEAKS = {
    "plain": loop(PLAIN),
    "a state that is carried on": "h = tf.zeros(())\n"
    + loop("loss = mse(y, model(x)) + 0.1 * h", apply=f"{APPLY}\n        h = loss"),
    "a function that reads the result": f"def report():\n    print(float(loss))\n{loop(PLAIN, behind='report()')}",
    "a batch's length": loop("loss = tf.reduce_sum((y - model(x)) ** 2) / len(x)"),
    "lists, prints and counts behind it": "seen, n = [], 0\n"
    + loop(PLAIN, behind="seen.append(float(loss)); n += 1; print(n, sum(seen))"),
    "a persistent tape that is deleted": "other = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])\n"
    + loop(PLAIN, apply=f"{APPLY}\n        del tape").replace("Tape()", "Tape(persistent=True)"),
    "a rate that is a variable": loop(PLAIN, epoch="opt.learning_rate = 0.1 / (1 + epoch)"),
    "a comprehension over gradients": loop(
        PLAIN,
        apply=APPLY.replace(
            "        opt", "        grads = [tf.clip_by_norm(g, 0.1) for g in grads]\n        opt"
        ),
    ),
    "breaks and counters": loop(PLAIN, before="if step == 2: break"),
    "comments and strings that look like effects": loop(
        '# [b, 4] => [b, 1]\n            out = model(x)  # print(out)\n            loss = mse(y, out) * scale["] = #"]'
    ).replace("\nfor", '\nscale = {"] = #": 0.5}\nfor', 1),
    "a model and an optimizer that are handed down": f"""{GIVEN}
def train(epoch, net, optimizer):
    for step, (x, y) in enumerate(data):
        loss = train_one_step(net, optimizer, x=x, y=y)
        if step % 2 == 0:
            print(epoch, loss.numpy())
def main():
    adam = keras.optimizers.Adam()
    for epoch in range(2):
        train(epoch, model, adam)
if __name__ == "__main__":
    main()
""",
    "weights in a dict, and `tf.add`": """
weights = {"w": tf.Variable(tf.ones((4, 1)) * 0.1)}
biases = {"b": tf.Variable(tf.zeros((1,)))}
def net(x):
    return tf.add(tf.matmul(x, weights["w"]), biases["b"])
def run(x, y):
    with tf.GradientTape() as tape:
        loss = mse(y, net(x))
    variables = list(weights.values()) + list(biases.values())
    opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
for step, (x, y) in enumerate(data, 1):
    run(x, y)
    print(step, float(mse(y, net(x))))
""",
    "another step in each branch": """
for step, (x, y) in enumerate(data.repeat(2)):
    if step % 2 == 0:
        with tf.GradientTape() as tape:
            loss = mse(y, model(x))
        grads = tape.gradient(loss, model.trainable_weights)
        opt.apply_gradients(zip(grads, model.trainable_weights))
    else:
        with tf.GradientTape() as tape:
            loss = mse(y, model(x)) * 0.1
        grads = tape.gradient(loss, model.trainable_weights)
        opt.apply_gradients(zip(grads, model.trainable_weights))
    print(step, float(loss))
""",
    "a function that also gives a number of Python": """
def step(x, y):
    with tf.GradientTape() as tape:
        loss = mse(y, model(x))
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_weights), model.trainable_weights))
    return {"loss": loss, "rows": len(x)}
for x, y in data:
    print(float(step(x, y)["loss"]), "." * step(x, y)["rows"])
""",
    "a function that counts, notes and prints": """
seen = []
def step(number, x, y):
    if tf.reduce_any(tf.math.is_nan(x)):
        return None
    with tf.GradientTape() as tape:
        loss = mse(y, model(x))
    grads = tape.gradient(loss, model.trainable_weights)
    opt.apply_gradients(zip(grads, model.trainable_weights))
    seen.append(loss.numpy())
    if number % 2 == 0:
        print(number, seen[-1])
    return float(loss)
for number, (x, y) in enumerate(data):
    step(number, x, y)
""",
    "a method that counts": """
class Trainer:
    def __init__(self):
        self.net, self.optimizer, self.count = model, opt, 0
    def step(self, x, y):
        self.count += 1
        with tf.GradientTape() as tape:
            loss = mse(y, self.net(x))
        grads = tape.gradient(loss, self.net.trainable_weights)
        self.optimizer.apply_gradients(zip(grads, self.net.trainable_weights))
        return float(loss)
trainer = Trainer()
for x, y in data:
    print(trainer.step(x, y), trainer.count)
""",
    "noise of NumPy between two tapes": """
other = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
second = keras.optimizers.SGD(0.05)
def step(x, y):
    noise = np.random.rand(1, 4).astype("float32")
    with tf.GradientTape() as tape:
        loss = mse(y, model(x + noise))
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_weights), model.trainable_weights))
    noise = np.random.rand(1, 4).astype("float32")
    with tf.GradientTape() as tape:
        last = mse(y, other(x + noise))
    second.apply_gradients(zip(tape.gradient(last, other.trainable_weights), other.trainable_weights))
    return loss, last
for x, y in data:
    print(*map(float, step(x, y)))
""",
    "two loops in one": loop(PLAIN).replace(
        "    print",
        "    for x, y in data:\n"
        + """
        with tf.GradientTape() as tape:
            loss = mse(y, 0.3 * model(x))
        grads = tape.gradient(loss, model.trainable_weights)
        opt.apply_gradients(zip(grads, model.trainable_weights))
    print""",
    ),
}


def fixed(folder: Path, text: str) -> str | None:
    """The program after the rule's fix; None where the rule is silent."""
    path = folder / "program.py"
    path.write_text(text)
    [source] = read_sources(folder, path)
    found = [one for one in rules.find(source.analysis) if one.rule.name == "missing-function"]
    return edited(source.text, compatible(found)).decode() if found else None


@pytest.mark.parametrize("case", SILENT)
def test_what_a_trace_would_change_is_left_alone(tmp_path: Path, case: str) -> None:
    assert fixed(tmp_path, HEAD + SILENT[case]) is None


@pytest.mark.parametrize("case", SPEAKS)
def test_a_step_that_is_taken_out_prints_the_same(tmp_path: Path, case: str) -> None:
    before = HEAD + SPEAKS[case]
    after = fixed(tmp_path, before)
    assert after is not None
    assert _numbers(tmp_path / "a.py", after) == pytest.approx(
        _numbers(tmp_path / "b.py", before), rel=0.01, abs=0.001
    )


def test_two_tapes_of_one_statement_are_one_step(tmp_path: Path) -> None:
    text = loop(PLAIN).replace("Tape() as tape:", "Tape() as other, tf.GradientTape() as tape:")
    text = text.replace(
        "        grads =", "        other.gradient(loss, model.trainable_weights)\n        grads ="
    )
    path = tmp_path / "program.py"
    path.write_text(HEAD + text)
    [source] = read_sources(tmp_path, path)
    assert [one.rule.name for one in rules.find(source.analysis)].count("missing-function") == 1


def _numbers(path: Path, text: str) -> list[float]:
    path.write_text(text)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        runpy.run_path(str(path), run_name="__main__")
    found = [float(number) for number in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", printed.getvalue())]
    assert found
    return found
