"""Messages in their order, decoded. While the loop decodes, it answers nobody: long texts are left to a thread.

Python's decoder takes 24 ms for 10 MB and lets no other thread run meanwhile, so that a thread alone is no help.
Long strings, the only long thing that clients send, are cut out and decoded piece by piece.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from uuid import uuid4

Read = Callable[[], Any]
"""Gives what a message says, or raises what is wrong with it."""

LONG = 1 << 19
"""Up to so many bytes of a message are decoded at once, in one to three milliseconds."""
PIECE = 1 << 16
LONGEST_ESCAPE = len("\\uffff")
BACKSLASH = ord("\\")
LETTERS = re.compile(rb'(?:[^"\\]+|\\[^u]|\\u[0-9a-fA-F]{4})*')
"""What a JSON string is made of: the match ends at its end, or between two letters."""


class Inbox:
    """Hands messages on. Those behind a long one wait until it is decoded."""

    def __init__(self, loop: asyncio.AbstractEventLoop, handle: Callable[[Read], None]) -> None:
        self._loop = loop
        self._handle = handle
        self._decoding = False
        self._behind: deque[bytearray] = deque()

    def receive(self, body: bytearray) -> None:
        """One message."""
        if self._decoding or self._behind:
            self._behind.append(body)
        else:
            self._take(body)

    def _take(self, body: bytearray) -> None:
        if len(body) < LONG:
            self._handle(partial(json.loads, body))
            return
        self._decoding = True
        self._loop.run_in_executor(None, decode, body).add_done_callback(self._decoded)

    def _decoded(self, future: asyncio.Future[Any]) -> None:
        self._decoding = False
        self._handle(future.result)
        self._go_on()

    def _go_on(self) -> None:
        """One step of the loop for each message that waited."""
        if self._behind and not self._decoding:
            self._take(self._behind.popleft())
            self._loop.call_soon(self._go_on)


def decode(body: bytearray) -> Any:
    """What a long message says; what is wrong with it is raised as by Python's decoder."""
    try:
        value, strings = _cut_out(body)
        return _put_back(value, strings) if strings else value
    except ValueError:
        return json.loads(body)


def _cut_out(body: bytearray) -> tuple[Any, dict[str, str]]:
    """The message with names in place of its long strings, and the strings."""
    parts: list[bytearray] = []
    strings: dict[str, str] = {}
    done = place = 0
    while (place := body.find(b'"', place) + 1) > 0:
        end = _end(body, place)
        if body[end : end + 1] != b'"':
            name = uuid4().hex
            end, strings[name] = _whole(body, place)
            parts += [body[done:place], bytearray(name.encode())]
            done = end
        place = end + 1
    return json.loads(b"".join([*parts, body[done:]])), strings


def _end(body: bytearray, start: int) -> int:
    """Where a string ends, or a piece of it between two letters."""
    limit = min(start + PIECE, len(body))
    quote = body.find(b'"', start, limit)
    if quote >= 0 and body[quote - 1] != BACKSLASH:
        return quote
    if quote >= 0:  # written in the text, or behind a backslash of the text
        match = LETTERS.match(body, start, limit)
        return match.end() if match is not None else start
    escape = body.rfind(b"\\", max(start, limit - LONGEST_ESCAPE), limit)
    if escape < 0:
        return limit
    before = escape
    while before > start and body[before - 1] == BACKSLASH:
        before -= 1
    return limit if (escape - before) % 2 else escape  # half of a backslash's own escape


def _whole(body: bytearray, start: int) -> tuple[int, str]:
    """Where a string ends that begins at a place, and what it says.

    It grows in place. Joined at the end, 10 MB of fresh memory would let no other thread run for 7 ms.
    """
    text, place = "", start
    for end, piece in _pieces(body, start):
        text += piece
        place = end
    return place, text


def _pieces(body: bytearray, start: int) -> Iterator[tuple[int, str]]:
    """The pieces of a string that begins at a place, each with where it ends."""
    while True:
        end = _end(body, start)
        over = body[end : end + 1] == b'"'
        while not over and end > start and body[end : end + 1] and body[end] & 0xC0 == 0x80:
            end -= 1  # inside a character
        piece: str = json.loads(b'"' + body[start:end] + b'"')
        if not over and "\ud800" <= piece[-1:] < "\udc00" and body[end - 6 : end - 4] == b"\\u":
            piece, end = piece[:-1], end - 6  # half of a character that is written as two escapes
        if not over and end <= start:
            raise ValueError("a string without an end")
        yield end, piece
        if over:
            return
        start = end


def _put_back(value: Any, strings: dict[str, str]) -> Any:
    """The value with its long strings."""
    if isinstance(value, str):
        return strings.get(value, value)
    if isinstance(value, list):
        return [_put_back(item, strings) for item in value]
    if isinstance(value, dict):
        return {_put_back(key, strings): _put_back(item, strings) for key, item in value.items()}
    return value
