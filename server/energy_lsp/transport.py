"""Messages in and out: one thread reads whole frames from a stream, the event loop handles them one by one.

pygls reads headers and body in separate thread-pool jobs and gives up on headers that deviate; one reader
thread is quicker, and lets a cancellation overtake the work it cancels.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    import asyncio

logger = logging.getLogger(__name__)

LARGEST_MESSAGE = 256 * 1024 * 1024


class BadFrame(Exception):  # noqa: N818 - the stream is wrong, not the program
    """The stream holds something that is no frame; reading goes on at the next header."""


def read_frame(stream: BinaryIO) -> bytes | None:
    """The next message's body, None at the end. Raises BadFrame on a header without a length."""
    length: int | None = None
    while True:
        line = stream.readline(4096)
        if not line:
            return None
        if line.strip() == b"":
            break
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            length = int(value) if value.strip().isdigit() else -1
    if length is None or not 0 <= length <= LARGEST_MESSAGE:
        raise BadFrame("message without a usable Content-Length")
    body = stream.read(length)
    return body if len(body) == length else None


def frame(body: str) -> bytes:
    """A message as it goes over the wire."""
    content = body.encode("utf-8")
    return b"Content-Length: %d\r\n\r\n" % len(content) + content


class Reader(threading.Thread):
    """Feeds the loop with messages until the stream ends."""

    def __init__(
        self,
        stream: BinaryIO,
        loop: asyncio.AbstractEventLoop,
        receive: Callable[[bytes], None],
        ended: Callable[[], None],
    ) -> None:
        super().__init__(name="energy-lsp reader", daemon=True)
        self._stream = stream
        self._loop = loop
        self._receive = receive
        self._ended = ended

    def run(self) -> None:
        """Read frames; a bad one is logged, the end of the stream ends the server."""
        try:
            while True:
                try:
                    body = read_frame(self._stream)
                except BadFrame as problem:
                    logger.warning("%s", problem)
                    continue
                if body is None:
                    break
                self._loop.call_soon_threadsafe(self._receive, body)
        except (OSError, ValueError) as problem:
            logger.info("The client's stream broke: %s", problem)
        finally:
            self._tell_end()

    def _tell_end(self) -> None:
        try:
            self._loop.call_soon_threadsafe(self._ended)
        except RuntimeError:
            logger.debug("The loop had already ended")


class Writer:
    """Writes whole frames to a stream; pygls calls it from the loop's thread alone."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def write(self, data: bytes) -> None:
        """Write and flush."""
        self._stream.write(data)
        self._stream.flush()

    def close(self) -> None:
        """The stream belongs to the process; its end closes it."""
