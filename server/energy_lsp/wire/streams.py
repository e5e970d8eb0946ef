"""A client's two streams as pygls reads and writes them: asyncio's own, so that the loop waits for neither."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from pygls.io_ import StdinAsyncReader, StdoutWriter

if TYPE_CHECKING:
    from pygls.io_ import AsyncReader, Writer

LIMIT = 1 << 20
"""Bytes that are read ahead, and the longest line of a header."""
LARGEST_MESSAGE = 1 << 28
"""Bytes. No editor opens a file of this size; who announces more would fill the memory."""
FAREWELL_SECONDS = 1.0
"""How long the last answers wait at the end for a client that does not read."""


class Streams(NamedTuple):
    """What comes from the client and what goes to it."""

    reader: AsyncReader
    writer: Writer

    async def flush(self) -> None:
        """Send what waits, to a client that still reads."""
        if isinstance(self.writer, asyncio.StreamWriter):
            self.writer.transport.set_write_buffer_limits(0)
            with suppress(OSError, asyncio.TimeoutError):
                await asyncio.wait_for(self.writer.drain(), FAREWELL_SECONDS)


class Bounded:
    """A client's stream with an end to what one message may hold."""

    def __init__(self, reader: AsyncReader) -> None:
        self._reader = reader

    def readline(self) -> Awaitable[bytes]:
        """A line of a header."""
        return self._reader.readline()

    def readexactly(self, n: int) -> Awaitable[bytes]:
        """The body of a message."""
        if n > LARGEST_MESSAGE:
            raise ValueError(f"a message of {n} bytes was announced, and {LARGEST_MESSAGE} are the most")
        return self._reader.readexactly(n)


class Outgoing(asyncio.streams.FlowControlMixin):
    """Notices that the client no longer reads."""

    def __init__(self, gone: Callable[[], None]) -> None:
        super().__init__()
        self._gone = gone

    def connection_lost(self, exc: Exception | None) -> None:
        """The other end was closed."""
        super().connection_lost(exc)
        self._gone()


async def of_files(
    incoming: BinaryIO, outgoing: BinaryIO, executor: ThreadPoolExecutor, gone: Callable[[], None]
) -> Streams:
    """Over two files: pipes are asyncio's; what it cannot watch (on Windows, or a file) pygls reads in a thread."""
    loop = asyncio.get_running_loop()
    try:
        transport, protocol = await loop.connect_write_pipe(lambda: Outgoing(gone), outgoing)
        reader = asyncio.StreamReader(LIMIT)
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), incoming)
    except (NotImplementedError, ValueError, OSError):
        return Streams(StdinAsyncReader(incoming, executor), StdoutWriter(outgoing))
    return Streams(reader, asyncio.StreamWriter(transport, protocol, None, loop))


async def of_socket(connection: socket.socket) -> Streams:
    """Over a connection."""
    return Streams(*await asyncio.open_connection(sock=connection, limit=LIMIT))
