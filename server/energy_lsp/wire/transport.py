"""Messages in and out: the event loop itself reads and writes the client's streams, and waits for neither.

pygls reads headers and body in separate thread-pool jobs and gives up on headers that deviate. A thread that reads
would have to be woken, and then wake the loop; while the worker computes each of these costs a wait for the
interpreter.
"""

from __future__ import annotations

import logging
import os
import select
import socket
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio

logger = logging.getLogger(__name__)

LARGEST_MESSAGE = 256 * 1024 * 1024
LONGEST_HEADER = 4096
CHUNK = 1 << 18
FAREWELL_SECONDS = 1.0
"""How long the last answers wait at the end for a client that does not read."""


def frame(body: str) -> bytes:
    """A message as it goes over the wire."""
    content = body.encode("utf-8")
    return b"Content-Length: %d\r\n\r\n" % len(content) + content


class Frames:
    """Cuts a stream of bytes into messages; what is no frame is logged and left out."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._told: int | None = None
        """What a header said of the length: -1 for nonsense."""
        self._body: int | None = None
        """The length of the body that is being received; None in a header."""

    def feed(self, data: bytes) -> Iterator[bytearray]:
        """The messages that are complete now."""
        self._buffer += data
        while (self._body is not None or self._read_header()) and len(self._buffer) >= (self._body or 0):
            size, self._body = self._body or 0, None
            yield self._take(size)

    def _take(self, size: int) -> bytearray:
        """The first bytes of the buffer: many are not copied, few are, as much may stand behind them."""
        if size > CHUNK:
            body, self._buffer = self._buffer, self._buffer[size:]
            del body[size:]
            return body
        with memoryview(self._buffer) as view:
            body = bytearray(view[:size])
        del self._buffer[:size]
        return body

    def _read_header(self) -> bool:
        """True when a header that tells a length is complete."""
        while (line := self._line()) is not None:
            name, _, value = line.partition(b":")
            if name.strip().lower() == b"content-length":
                self._told = int(value) if value.strip().isdigit() else -1
            elif not line.strip():
                told, self._told = self._told, None
                if told is not None and 0 <= told <= LARGEST_MESSAGE:
                    self._body = told
                    return True
                logger.warning("message without a usable Content-Length")
        return False

    def _line(self) -> bytes | None:
        end = self._buffer.find(b"\n", 0, LONGEST_HEADER)
        if end < 0 and len(self._buffer) < LONGEST_HEADER:
            return None
        end = end + 1 or LONGEST_HEADER
        line = bytes(self._buffer[:end])
        del self._buffer[:end]
        return line


class Wire:
    """A client's two streams, read and written by the event loop."""

    def __init__(
        self, incoming: int, outgoing: int, read: Callable[[], bytes], write: Callable[[memoryview], int]
    ) -> None:
        self._incoming, self._outgoing = incoming, outgoing
        self._read, self._write = read, write
        self._frames = Frames()
        self._arrived: deque[bytearray] = deque()
        self._unsent: deque[memoryview] = deque()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._watched = False

    @classmethod
    def of_files(cls, incoming: int, outgoing: int) -> Wire:
        """Over two file descriptors."""
        return cls(incoming, outgoing, partial(os.read, incoming, CHUNK), partial(os.write, outgoing))

    @classmethod
    def of_socket(cls, connection: socket.socket) -> Wire:
        """Over a connection."""
        number = connection.fileno()
        return cls(number, number, partial(connection.recv, CHUNK), connection.send)

    def wait_for_message(self) -> bytearray | None:
        """The next message, before there is a loop; None at the end."""
        while not self._arrived:
            data = self._read()
            if not data:
                return None
            self._arrived += self._frames.feed(data)
        return self._arrived.popleft()

    def attach(
        self, loop: asyncio.AbstractEventLoop, receive: Callable[[bytearray], None], ended: Callable[[], None]
    ) -> None:
        """Hand every message to the loop from now on; `ended` is called when the client closed its side or is gone."""
        self._loop, self._receive, self._ended = loop, receive, ended
        for _ in self._arrived:
            loop.call_soon(self._hand_on)
        try:
            loop.add_reader(self._incoming, self._readable)
        except (NotImplementedError, OSError):  # Windows, or a file: the loop cannot watch it
            threading.Thread(target=self._read_on, name="energy-lsp reader", daemon=True).start()
        else:
            self._watched = True
            _set_blocking(self._outgoing, False)

    def _readable(self) -> None:
        assert self._loop is not None
        try:
            data = self._read()
        except BlockingIOError:
            return
        except OSError as problem:
            logger.info("The client's stream broke: %s", problem)
            data = b""
        if not data:
            self._loop.remove_reader(self._incoming)
            self._ended()
        self._take_in(data)

    def _take_in(self, data: bytes) -> None:
        """One step of the loop for each message, and this one for the first: a cancellation overtakes what it cancels."""
        assert self._loop is not None
        at_once = not self._arrived
        self._arrived += (new := list(self._frames.feed(data)))
        for _ in new[at_once:]:
            self._loop.call_soon(self._hand_on)
        if new and at_once:
            self._hand_on()

    def _hand_on(self) -> None:
        self._receive(self._arrived.popleft())

    def _read_on(self) -> None:
        assert self._loop is not None
        with suppress(RuntimeError):  # the loop has ended
            with suppress(OSError):
                while data := self._read():
                    self._loop.call_soon_threadsafe(self._take_in, data)
            self._loop.call_soon_threadsafe(self._ended)

    def write(self, data: bytes) -> None:
        """Send a message; what the client does not take at once waits its turn."""
        waits = bool(self._unsent)
        self._unsent.append(memoryview(data))
        if waits:
            return
        self._send()
        if self._unsent:
            assert self._loop is not None
            self._loop.add_writer(self._outgoing, self._writable)

    def _send(self) -> None:
        while self._unsent:
            data = self._unsent.popleft()
            try:
                sent = self._write(data)
            except BlockingIOError:
                sent = 0
            if sent < len(data):
                self._unsent.appendleft(data[sent:])
                if self._watched:
                    return

    def _writable(self) -> None:
        assert self._loop is not None
        try:
            self._send()
        except OSError as problem:
            logger.info("The client is gone: %s", problem)
            self._unsent.clear()
            self._ended()
        if not self._unsent:
            self._loop.remove_writer(self._outgoing)

    def close(self) -> None:
        """Send what waits, to a client that still reads, and leave the stream as it was."""
        if not self._watched:
            return
        with suppress(OSError):
            while self._unsent and select.select([], [self._outgoing], [], FAREWELL_SECONDS)[1]:
                self._send()
            _set_blocking(self._outgoing, True)


def _set_blocking(descriptor: int, wanted: bool) -> None:
    if sys.platform != "win32":  # where the loop watches no files, nothing is changed
        os.set_blocking(descriptor, wanted)
