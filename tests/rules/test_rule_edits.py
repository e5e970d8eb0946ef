"""After any edit the rules find what they would find in a file opened afresh, fixes included."""

from __future__ import annotations

import gc
import random
import weakref

import pytest

from energy_code import rules
from energy_code.rule_engine.cache import forget
from energy_code.rule_engine.runner import _Search
from energy_code.text.decoding import same_ends
from energy_code.workspace.document import Document

HEAD = "import numpy as np\nimport tensorflow as tf\nimport keras\n"
EXAMPLES = [before for rule in rules.ALL.values() if rule.saves for before, _ in rule.examples]
EXAMPLES += [code for rule in rules.ALL.values() if rule.saves for code in (*rule.reports, *rule.leave_alone)]
OUTSIDE = [
    "def step(a):\n    return tf.sqrt(tf.reduce_sum(tf.square(a)))\n",
    "def train(a):\n    with tf.GradientTape() as tape:\n        y = step(a)\n    return y\n",
    "step = tf.function(step)\n",
    "for i in range(10):\n    step(i)\n",
    "tf.compat.v1.disable_eager_execution()\n",
    "class Net(keras.Model):\n    def call(self, x):\n        return tf.nn.softmax(tf.square(x - x))\n",
    "class Other(Net):\n    pass\n",
    "net = Other()\nfor row in range(9):\n    net.predict(np.zeros((1, 2)))\n",
    "def use(model: Other, x):\n    for r in x:\n        y = model.predict(np.expand_dims(r, 0))\n",
]
TYPED = ["\n", "#", " ", "(", ")", "x", "tf.", "0", "\n\n", "# energy: ignore\n", '"""', ":", "**2"]


def pieces(dice: random.Random) -> list[str]:
    """Some code of the rules' own examples, in functions and outside, with code that reaches across."""
    chosen = dice.sample(EXAMPLES, 12)
    wrapped = [
        f"def around{number}(x, y):\n" + "".join(f"    {line}\n" for line in code.splitlines())
        if number % 3
        else code
        for number, code in enumerate(chosen)
    ]
    return [HEAD, *wrapped, *dice.sample(OUTSIDE, 5)]


def edit(document: Document, dice: random.Random) -> None:
    """Type or delete a little, or paste or cut a whole piece."""
    source = document.source
    place = dice.randrange(len(source) + 1)
    action = dice.random()
    if action < 0.4:
        document.edit(place, place, dice.choice(TYPED).encode())
    elif action < 0.7:
        document.edit(place, min(len(source), place + dice.choice([1, 1, 2, 9])), b"")
    else:
        line = source.rfind(b"\n", 0, place) + 1
        end = source.find(b"\n\n", place) if action > 0.9 else line
        pasted = dice.choice(OUTSIDE).encode() if action < 0.9 else b""
        document.edit(line, max(line, end), pasted)


def shown(found: list[rules.Finding]) -> list[object]:
    """What a person sees of findings."""
    return [
        (one.rule.name, one.span, one.message, one.safety(), one.mode, one.related, one.call, one.edits())
        for one in found
    ]


@pytest.mark.parametrize("seed", range(8))
def test_findings_after_edits_are_those_of_a_search_afresh(seed: int) -> None:
    dice = random.Random(seed)
    text = "\n\n".join(pieces(dice))
    document = Document(text)
    rules.find(document.analyse())
    for number in range(40):
        edit(document, dice)
        analysis = document.analyse()
        after = shown(rules.find(analysis))
        forget(document)
        assert after == shown(rules.find(analysis)), "a search afresh finds something else"
        if number % 4 == 3:
            opened = Document(document.source)
            assert after == shown(rules.find(opened.analyse())), "a file opened afresh gives something else"
        if number % 6 == 5:
            document.replace(text)


def test_a_finding_moves_with_its_definition_and_its_fix_still_fits() -> None:
    document = Document(HEAD + "\n\ndef f(x: tf.Tensor):\n    return tf.sqrt(tf.reduce_sum(tf.square(x)))\n")
    [before] = rules.find(document.analyse())
    document.edit(len(HEAD), len(HEAD), b"\n# a comment\n")
    [after] = rules.find(document.analyse())
    assert after.span.start_byte == before.span.start_byte + 13
    assert after.span.start.row == before.span.start.row + 2
    assert [one.text for one in after.edits()] == [one.text for one in before.edits()]
    assert document.source[after.span.start_byte :].startswith(b"tf.sqrt(")


def test_nothing_that_rules_keep_holds_on_to_a_document() -> None:
    document = Document(HEAD + "y = 1 / tf.sqrt(tf.ones([2, 3]))\n")
    assert len(rules.find(document.analyse())) == 1
    before = weakref.ref(document.analyse())
    document.edit(0, 0, b"# edited\n")
    assert len(rules.find(document.analyse())) == 1
    assert before() is None, "an analysis goes with the next search, before anybody collects garbage"
    gone = weakref.ref(document)
    del document
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize(
    ("old", "new", "ends"),
    [
        (b"", b"", (0, 0)),
        (b"abc", b"abc", (3, 0)),
        (b"abc", b"abxc", (2, 1)),
        (b"aaa", b"aaaa", (3, 0)),
        (b"abcd", b"ad", (1, 1)),
        (b"abc", b"xyz", (0, 0)),
    ],
)
def test_what_two_texts_share(old: bytes, new: bytes, ends: tuple[int, int]) -> None:
    assert same_ends(old, new) == ends


@pytest.mark.parametrize(
    ("piece", "typed"),
    [
        ("def f{n}(x: tf.Tensor):\n    return tf.sqrt(x)\n", b"0 + "),
        (
            "def f{n}(x: tf.Tensor):\n    with tf.GradientTape() as t:\n        y = tf.sqrt(x)\n    return t\n",
            b"0 + ",
        ),
        ("a{n} = tf.zeros([3, 4])\nb{n} = tf.matmul(a{n}, a{n})\nc{n} = 1 / tf.sqrt(b{n})\n", b"0 + "),
    ],
    ids=["functions", "functions whose callers matter", "statements"],
)
def test_only_what_an_edit_touches_is_looked_at_again(
    piece: str, typed: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = Document(HEAD + "".join(piece.format(n=n) for n in range(20)))
    rules.find(document.analyse())
    looked: list[int] = []
    ask = _Search._ask
    monkeypatch.setattr(
        _Search, "_ask", lambda self, *asked: looked.append(asked[1].start_byte) or ask(self, *asked)
    )
    place = document.source.rindex(b"tf.sqrt", 0, len(document.source) // 2)
    document.edit(place, place, typed)
    rules.find(document.analyse())
    statements = {document.analyse().statements_at(one).start for one in looked}
    assert statements == {document.analyse().statements_at(place).start}


@pytest.mark.parametrize(
    ("at", "typed"),
    [("    y = ", b"\n"), ("    y = ", b"    # a comment\n"), ("words.", b"short "), ("comment\n", b"true ")],
)
def test_findings_move_with_comments_and_blank_lines(at: str, typed: bytes) -> None:
    function = 'def f(x: tf.Tensor):\n    """Some words."""\n    # comment\n    y = tf.square(x)\n    return 1 / tf.sqrt(y)\n'
    document = Document(HEAD + function)
    before = rules.find(document.analyse())
    place = document.source.index(at.encode())
    document.edit(place, place, typed)
    after = rules.find(document.analyse())
    assert [one.span.start_byte for one in after] == [one.span.start_byte + len(typed) for one in before]
    assert after
    assert shown(after) == shown(rules.find(Document(document.source).analyse()))
