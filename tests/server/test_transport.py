"""Messages over real pipes and sockets: cut as they were framed, sent without waiting for a slow client."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
from pathlib import Path

import pytest

from energy_lsp.wire.transport import LONGEST_HEADER, Frames, Wire, frame

WORDS = (
    frame('{"é": 1}')
    + b"content-length : 2\r\nX: y\r\n\r\n{}"
    + b"X: y\r\n\r\n"
    + b"Content-Length: many\r\n\r\n"
    + b"x" * (3 * LONGEST_HEADER)
    + b"\n\n"
    + frame("")
    + frame("[]")
    + b"Content-"
)
MESSAGES = ['{"é": 1}'.encode(), b"{}", b"", b"[]"]
LARGE = 3_000_000
"""Bytes: more than any pipe or socket takes at once."""


@pytest.mark.parametrize("size", [1, 7, 4096, len(WORDS)])
def test_frames_are_cut_wherever_the_stream_was(size: int) -> None:
    frames, found = Frames(), []
    for start in range(0, len(WORDS), size):
        found += frames.feed(WORDS[start : start + size])
    assert found == MESSAGES


class Client:
    """The other side of a wire."""

    def __init__(self, kind: str) -> None:
        if kind == "socket":
            here, there = socket.socketpair()
            self.wire = Wire.of_socket(there)
            self.reading = self.writing = os.dup(here.fileno())
            self._kept = (here, there)
        else:
            incoming, self.writing = os.pipe()
            self.reading, outgoing = os.pipe()
            self.wire = Wire.of_files(incoming, outgoing)

    def read(self, size: int) -> bytes:
        """So many bytes, however long they take."""
        found = b""
        while len(found) < size:
            found += os.read(self.reading, size - len(found))
        return found


@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_messages_arrive_in_order_and_the_end_is_told_last(kind: str) -> None:
    client = Client(kind)
    os.write(client.writing, WORDS)
    assert client.wire.wait_for_message() == MESSAGES[0]
    heard: list[bytes | str] = []

    async def listen() -> None:
        over = asyncio.Event()

        def ended() -> None:
            heard.append("end")
            over.set()

        client.wire.attach(asyncio.get_running_loop(), heard.append, ended)
        os.write(client.writing, b"Length: 1\r\n\r\n{" + frame("7"))
        if kind == "socket":
            socket.socket(fileno=client.writing).shutdown(socket.SHUT_WR)
        else:
            os.close(client.writing)
        await over.wait()

    asyncio.run(listen())
    assert heard == [*MESSAGES[1:], b"{", b"7", "end"]


def test_messages_that_arrive_together_go_before_what_they_begin() -> None:
    """So a cancellation overtakes the request that it cancels, and no later message overtakes an earlier one."""
    client = Client("pipe")
    heard: list[bytes] = []

    async def listen() -> None:
        loop, over = asyncio.get_running_loop(), asyncio.Event()

        def receive(body: bytearray) -> None:
            heard.append(bytes(body))
            loop.call_soon(heard.append, b"begun by " + body)
            if body == b"3":
                os.write(client.writing, frame("4") + frame("5"))
            if body == b"5":
                loop.call_soon(over.set)

        client.wire.attach(loop, receive, over.set)
        os.write(client.writing, frame("1") + frame("2") + frame("3"))
        await over.wait()

    asyncio.run(listen())
    assert heard[:5] == [b"1", b"2", b"3", b"begun by 1", b"begun by 2"]
    assert [body for body in heard if body.isdigit()] == [b"1", b"2", b"3", b"4", b"5"]


@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_a_client_that_does_not_read_holds_up_nobody(kind: str) -> None:
    client = Client(kind)
    parts = [frame("a" * LARGE), frame("b"), frame("c" * LARGE)]
    size = sum(map(len, parts))

    async def talk() -> bytes:
        client.wire.attach(asyncio.get_running_loop(), lambda body: None, lambda: None)
        for part in parts:
            client.wire.write(part)  # comes back although nobody reads
        return await asyncio.to_thread(client.read, size)

    assert asyncio.run(talk()) == b"".join(parts)


def test_what_waits_is_sent_at_the_end() -> None:
    client = Client("pipe")
    part = frame("a" * LARGE)
    found: list[bytes] = []

    async def talk() -> None:
        client.wire.attach(asyncio.get_running_loop(), lambda body: None, lambda: None)
        client.wire.write(part)

    asyncio.run(talk())
    thread = threading.Thread(target=lambda: found.append(client.read(len(part))))
    thread.start()
    client.wire.close()
    thread.join()
    assert found == [part]


def test_a_client_that_goes_while_something_waits_ends_the_conversation() -> None:
    client = Client("pipe")

    async def talk() -> None:
        over = asyncio.Event()
        client.wire.attach(asyncio.get_running_loop(), lambda body: None, over.set)
        client.wire.write(frame("a" * LARGE))
        os.close(client.reading)
        await over.wait()

    asyncio.run(talk())


def test_a_file_can_be_the_client(tmp_path: Path) -> None:
    asked, answered = tmp_path / "in", tmp_path / "out"
    asked.write_bytes(WORDS)
    heard: list[bytes] = []

    async def listen(wire: Wire) -> None:
        over = asyncio.Event()
        wire.attach(asyncio.get_running_loop(), heard.append, over.set)
        await over.wait()
        wire.write(frame("{}"))

    with asked.open("rb") as incoming, answered.open("wb") as outgoing:
        wire = Wire.of_files(incoming.fileno(), outgoing.fileno())
        asyncio.run(listen(wire))
        wire.close()
    assert heard == MESSAGES
    assert answered.read_bytes() == frame("{}")
