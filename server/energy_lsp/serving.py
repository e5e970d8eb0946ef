"""Running the server on a stream: stdio, or the first connection to a TCP port."""

from __future__ import annotations

import asyncio
import os
import re
import select
import socket
import sys
import time
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from typing import Any

from energy_lsp.features import (
    code_actions,
    code_lens,
    commands,
    configuration,
    diagnostics,
    hover,
    inlay_hints,
    pages,
    status,
)
from energy_lsp.features.programs import measuring, runs
from energy_lsp.session import garbage_collection as garbage
from energy_lsp.session.server import EnergyServer
from energy_lsp.wire.streams import Streams, of_files, of_socket

FEATURES = (
    hover,
    diagnostics,
    code_actions,
    inlay_hints,
    code_lens,
    commands,
    pages,
    runs,
    configuration,
    status,
    measuring,
)
HEADER = re.compile(rb"content-length: *(?P<length>\d{1,10})|content-type: *[^\r\n]*", re.IGNORECASE)
BEGINNINGS = (b"content-length:", b"content-type:")
LONGEST_HEADER = 1000
FIRST_BYTES = 1 << 16
"""Of the first message: who sent so many of them speaks the protocol."""
FIRST_SECONDS = 30.0
"""How long a client may take to say something."""
MOST_WAITING = 64
"""Connections that have not said who they are; beyond, the oldest goes."""


def serve_stdio(options: Mapping[str, object]) -> int:
    """Serve on this process' standard streams; whatever else prints goes to standard error."""
    incoming = os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    outgoing = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # a stray print must not end up between messages
    return _serve(
        lambda server: of_files(incoming, outgoing, server.thread_pool, server.client_gone), options
    )


def serve_tcp(host: str, port: int, options: Mapping[str, object]) -> int:
    """Wait for one client and serve it; the address is printed for whoever chose port 0."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family) as listening:
        shown, bound = listening.getsockname()[:2]
        print(f"Waiting for a client on {shown}:{bound}", file=sys.stderr, flush=True)
        connection = _first_client(listening)
    with connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return _serve(lambda _: of_socket(connection), options)


def _first_client(listening: socket.socket) -> socket.socket:
    """The first connection that speaks the protocol; those that say nothing, or little, keep nobody waiting."""
    waiting: dict[socket.socket, float] = {}
    while True:
        readable, _, _ = select.select([listening, *waiting], [], [], 1.0)
        if listening in readable:
            connection, _ = listening.accept()
            waiting[connection] = time.monotonic() + FIRST_SECONDS
        for connection in [one for one in readable if one in waiting]:
            speaks = _speaks_protocol(connection)
            if speaks:
                for other in waiting.keys() - {connection}:
                    other.close()
                return connection
            if speaks is False:  # a browser, say: any web page may send one here
                del waiting[connection]
                connection.close()
        late = [one for one, until in waiting.items() if until < time.monotonic()]
        for connection in dict.fromkeys([*late, *list(waiting)[:-MOST_WAITING]]):
            del waiting[connection]
            connection.close()
        if any(one in waiting for one in readable):
            time.sleep(0.02)  # the rest of a header is on its way


def _speaks_protocol(connection: socket.socket) -> bool | None:
    """Whether a client's first message is one of the protocol; None where too little came. It stays to be read."""
    try:
        came = connection.recv(FIRST_BYTES, socket.MSG_PEEK)
    except OSError:
        return False
    header, end, body = came.partition(b"\r\n\r\n")
    if not any(header[: len(begin)].lower() == begin[: len(header)] for begin in BEGINNINGS) or not header:
        return False
    if not end:
        return None if len(header) <= LONGEST_HEADER else False
    lines = [HEADER.fullmatch(line) for line in header.split(b"\r\n")]
    lengths = [int(line["length"]) for line in lines if line and line["length"]]
    if not all(lines) or len(lengths) != 1 or body[:1] not in (b"{", b""):
        return False
    return True if len(body) >= lengths[0] or len(came) == FIRST_BYTES else None


def _serve(
    connect: Callable[[EnergyServer], Coroutine[Any, Any, Streams]], options: Mapping[str, object]
) -> int:
    garbage.begin()
    server, code = EnergyServer(options), 1
    for feature in FEATURES:
        feature.register(server)
    with suppress(KeyboardInterrupt, BrokenPipeError):
        code = asyncio.run(server.serve(connect))
    # A thread may sit in a call that never returns, and Python would wait for it.
    sys.stderr.flush()
    os._exit(code)
