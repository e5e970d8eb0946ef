"""Long messages say what Python's decoder says they say, wherever they are cut, and messages keep their order."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from energy_lsp.wire import inbox
from energy_lsp.wire.inbox import LONG, Inbox, Read, decode

TEXTS = st.text(st.sampled_from('aé大😀"\\\n\t/\x7f\ud83d\ude00u'), max_size=60)
VALUES = st.recursive(
    st.one_of(TEXTS, st.integers(), st.none(), st.booleans()),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=4)),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(VALUES, st.integers(8, 20), st.booleans())
def test_a_message_in_pieces_says_the_same(value: object, piece: int, escaped: bool) -> None:
    body = bytearray(json.dumps(value, ensure_ascii=escaped).encode("utf-8", "surrogatepass"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inbox, "PIECE", piece)
        assert decode(body) == json.loads(body)


@pytest.mark.parametrize(
    "body", ['{"text": "aaaaaaaaaaaaaaaaaaaa', '{"a": "bbbbbbbbbbbbbbbbbb\n"}', '"\\u12', "{"]
)
def test_what_is_wrong_with_a_message_is_told(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inbox, "PIECE", 8)
    with pytest.raises(ValueError, match="line 1"):
        decode(bytearray(body.encode()))


def test_messages_behind_a_long_one_wait_for_it() -> None:
    """And it is not the loop that decodes it."""
    bodies = [1, "x" * LONG, 2, [3, "y" * LONG], 4, 5]
    heard: list[Any] = []
    broken: list[str] = []

    async def use() -> None:
        over = asyncio.Event()

        def handle(read: Read) -> None:
            try:
                heard.append(read())
            except ValueError as problem:
                broken.append(str(problem))
            if heard[-1] == 5:
                over.set()

        one = Inbox(asyncio.get_running_loop(), handle)
        for body in bodies:
            one.receive(bytearray(json.dumps(body).encode()))
            if body == 2:
                one.receive(bytearray(b'"' + b"z" * LONG))
        await over.wait()

    readers: set[str] = set()
    real = inbox.decode

    def watched(body: bytearray) -> Any:
        readers.add(threading.current_thread().name)
        return real(body)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inbox, "decode", watched)
        asyncio.run(use())
    assert heard == bodies
    assert len(broken) == 1
    assert threading.main_thread().name not in readers
    assert readers
