"""Running the server on a stream: stdio, or the first connection to a TCP port."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Mapping
from contextlib import suppress

from energy_lsp.session import garbage_collection as garbage
from energy_lsp.wire.greeting import greet
from energy_lsp.wire.transport import Wire

HEADER = b"content-length"
OTHER_HEADER = b"content-type: "
FIRST_SECONDS = 30.0
"""How long a client may take to say something; meanwhile no other is heard."""


def serve_stdio(options: Mapping[str, object]) -> int:
    """Serve on this process' standard streams; whatever else prints goes to standard error."""
    wire = Wire.of_files(os.dup(sys.stdin.fileno()), os.dup(sys.stdout.fileno()))
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # a stray print must not end up between messages
    return _serve(wire, options)


def serve_tcp(host: str, port: int, options: Mapping[str, object]) -> int:
    """Wait for one client and serve it; the address is printed for whoever chose port 0."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family) as listening:
        shown, bound = listening.getsockname()[:2]
        print(f"Waiting for a client on {shown}:{bound}", file=sys.stderr, flush=True)
        while True:
            connection, _ = listening.accept()
            if _speaks_protocol(connection):
                break
            connection.close()  # a browser, say: any web page may send one here
    with connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return _serve(Wire.of_socket(connection), options)


def _speaks_protocol(connection: socket.socket) -> bool:
    """Whether a client begins with a header of the protocol; what it sent stays to be read."""
    connection.settimeout(FIRST_SECONDS)
    try:
        for _ in range(100):
            begin = connection.recv(len(HEADER), socket.MSG_PEEK).lower()
            if begin not in (HEADER[: len(begin)], OTHER_HEADER[: len(begin)]) or not begin:
                return False
            if len(begin) == len(HEADER):
                return True
            time.sleep(0.02)
    except OSError:
        return False
    finally:
        connection.settimeout(None)
    return False


def _serve(wire: Wire, options: Mapping[str, object]) -> int:
    first = greet(wire)
    import asyncio

    from energy_lsp.session.server import EnergyServer

    garbage.begin()
    code = 1
    with suppress(KeyboardInterrupt, BrokenPipeError):
        code = asyncio.run(EnergyServer(options).serve(wire, first))
    wire.close()
    # A thread may sit in a call that never returns, and Python would wait for it.
    sys.stderr.flush()
    os._exit(code)
