from __future__ import annotations

import re

import pytest

from energy_lsp.presentation.notation.markup import Markdown, Plain

HOSTILE = [
    "[click](command:workbench.action.terminal.new)",
    "<a href='command:x'>y</a>",
    "![x](https://evil.example/p.png)",
    "`code` **bold** <img src=x onerror=alert(1)>",
    "line\n\n# heading\r\n- list",
    "https://evil.example",
    "&lt;b&gt;",
]


@pytest.mark.parametrize("content", HOSTILE)
def test_foreign_text_has_no_meaning_in_markdown(content: str) -> None:
    text = Markdown().text(content)
    assert "\n" not in text
    for index, character in enumerate(text):
        if character in "[]()<>!`*#&:":
            assert text[index - 1] == "\\", text


@pytest.mark.parametrize("content", HOSTILE)
def test_foreign_code_stays_in_its_span(content: str) -> None:
    text = Markdown().code(content)
    assert text.count("`") == 2
    assert "\n" not in text


@pytest.mark.parametrize(
    "url", ["command:evil", "javascript:alert(1)", "https://a.b/)[x](command:y", "file:///x"]
)
def test_only_web_pages_become_links(url: str) -> None:
    assert Markdown().link("label", url) == "label"


def test_a_web_page_becomes_a_link() -> None:
    assert Markdown().link("API", "https://keras.io/api/x#y") == "[API](https://keras.io/api/x#y)"


def test_a_block_cannot_be_left() -> None:
    assert Markdown().block(["a```b"]).count("```") == 2


def test_plain_text_has_no_markup() -> None:
    assert Plain().bold(Plain().code("tf.add")) == "tf.add"
    assert Plain().text("a\n b") == "a b"


def test_code_in_prose_is_shown_as_code() -> None:
    assert Markdown().prose("`tf.square` [x]\n in `a b`") == "`tf.square` \\[x\\] in `a b`"
    assert Plain().prose("`tf.square`\n is") == "`tf.square` is"


@pytest.mark.parametrize("content", [*HOSTILE, "a ` b", "``x``", "`[x](command:y)`", "\\`[x](command:y)` z`"])
def test_foreign_prose_has_no_meaning_beyond_code(content: str) -> None:
    text = Markdown().prose(content)
    assert "\n" not in text
    outside = re.sub(r"(?<!\\)((?:\\\\)*)`[^`]+`", r"\1", text)
    for index, character in enumerate(outside):
        if character in "[]()<>!`*#&:":
            assert outside[index - 1] == "\\", text
