"""Running the server on a stream: stdio, or the first connection to a TCP port."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Mapping
from contextlib import suppress

from energy_lsp import garbage
from energy_lsp.greeting import greet
from energy_lsp.transport import Wire


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
        connection, _ = listening.accept()
    with connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return _serve(Wire.of_socket(connection), options)


def _serve(wire: Wire, options: Mapping[str, object]) -> int:
    first = greet(wire)
    import asyncio

    from energy_lsp.server import EnergyServer

    garbage.begin()
    code = 1
    with suppress(KeyboardInterrupt, BrokenPipeError):
        code = asyncio.run(EnergyServer(options).serve(wire, first))
    wire.close()
    # A thread may sit in a call that never returns, and Python would wait for it.
    sys.stderr.flush()
    os._exit(code)
