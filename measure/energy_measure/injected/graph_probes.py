"""Probes in functions that AutoGraph converts, in the project's own interpreter (Python 3.8 to 3.13).

AutoGraph reads a function's source, which is the original, and compiles its own version of it. Calls in there
would go unseen. So the tree that AutoGraph has parsed gets the probes as well: around calls of plain
TensorFlow functions alone, which AutoGraph calls as they are, so that nothing changes for it. The text it
quotes in messages stays the original.
"""

from __future__ import annotations

import inspect
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import ModuleType
    from typing import Any

    Place = tuple[int, int, int, int]

PROBE = "__energy_probe__"


class GraphProbes:
    """The calls that may be probed while a function is traced, by file and place."""

    def __init__(self, calls: dict[str, list[list[Any]]]) -> None:
        """Per file: `[line, column, end line, end column, site, last name of the callee]`."""
        self.calls: dict[str, dict[Place, tuple[int, str]]] = {
            path: {(row[0], row[1], row[2], row[3]): (row[4], row[5]) for row in rows}
            for path, rows in calls.items()
        }

    def extend(self, parser: ModuleType) -> None:
        """Have AutoGraph's parser add probes to what it parses; versions that differ are left alone."""
        parse_entity = getattr(parser, "parse_entity", None)
        gast = getattr(parser, "gast", None)
        if parse_entity is None or gast is None:
            return

        def parse_and_probe(entity: Any, future_features: Iterable[str]) -> Any:
            node, source = parse_entity(entity, future_features)
            try:
                self.add(node, entity, len(list(future_features)), gast)
            except Exception as problem:
                print(f"energy-lsp: a traced function runs without probes ({problem!r})", file=sys.stderr)
            return node, source

        parser.parse_entity = parse_and_probe  # type: ignore[attr-defined]

    def add(self, node: Any, entity: Any, preamble: int, gast: Any) -> None:
        """Put probes around known calls of one parsed function."""
        filename = inspect.unwrap(entity).__code__.co_filename
        known = self.calls.get(filename) or self.calls.get(os.path.realpath(filename))
        if not known or entity.__name__ == "<lambda>":
            return
        lines, first = inspect.findsource(entity)
        indent = len(lines[first]) - len(lines[first].lstrip())
        down = first - preamble

        def place(call: Any) -> Place:
            return (
                call.lineno + down,
                call.col_offset + indent,
                call.end_lineno + down,
                call.end_col_offset + indent,
            )

        for call in [part for part in gast.walk(node) if isinstance(part, gast.Call)]:
            site, name = known.get(place(call), (-1, ""))
            if site >= 0 and getattr(call.func, "attr", getattr(call.func, "id", None)) == name:
                probe = gast.Name(PROBE, gast.Load(), None, None)
                number = gast.Constant(site, None)
                for part in (probe, number):
                    gast.copy_location(part, call)
                call.args = [number, call.func, *call.args]
                call.func = probe


def after_loading(loader: Any, act: Callable[[ModuleType], None]) -> Any | None:
    """A loader like the given one that acts on the module once it is loaded."""
    kind = type(loader)

    class Acting(kind):  # type: ignore[misc,valid-type]
        def exec_module(self, module: ModuleType) -> None:
            super().exec_module(module)
            act(module)

    acting = Acting.__new__(Acting)
    acting.__dict__.update(loader.__dict__)
    return acting
