"""Looks at rows that come from elsewhere before they are stored: a value that a reader would stumble over is refused."""

from __future__ import annotations

import base64
import math
import zlib
from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import compress
from typing import Any

from energy_data.catalogue.naming import canonical
from energy_data.exchange.sharing import shared_file, shared_row
from energy_data.model import COVERS, DEVICES, Environment, Machine
from energy_data.rows import (
    environment_from,
    evidence_from,
    inside_from,
    machine_from,
    part_from,
    phase_from,
    run_from,
    span_from,
    trace_from,
)
from energy_data.untrusted.parsing import parse_json

LONGEST_TEXT = 1024 * 1024
LONGEST_SERIES = 32 * 1024 * 1024
"""Columns that hold a list with an entry for each second, line or layer."""
_SERIES = {"temperature_series", "lines", "flows", "sparse", "operations", "repeats", "detail"}
LARGEST_NUMBER = 1e100
"""No joules, seconds or bytes come near it, and its square can still be computed."""
_LARGEST_INTEGER = (1 << 63) - 1
_PLAIN = 1 << 62
"""A row whose numbers add up to less needs no look at each of them."""
UNREADABLE = (ValueError, KeyError, AttributeError, TypeError, RecursionError, OverflowError, zlib.error)
"""What reading a row raises that holds something else than it should."""
NULLABLE = {
    "stable",
    "unaccounted_joules",
    "tail_joules",
    "low",
    "high",
    "exclusive_joules",
    "stability_seconds",
    "first_joules",
    "first_seconds",
    *(f"{device}_{part}" for device in DEVICES for part in ("joules", "stderr")),
}

Values = tuple[Any, ...]


class BadRow(Exception):  # noqa: N818 - a finding about a file
    """A row that is not stored; `str()` of it gives the reason."""


@lru_cache(maxsize=4096)
def _signature(arguments: str) -> None:
    """Raise unless this is a list; few texts stand in many rows."""
    tuple(parse_json(arguments))


_READERS: dict[str, Callable[[Mapping[str, Any]], object]] = {
    "machines": machine_from,
    "environments": environment_from,
    "runs": lambda row: run_from(row, Machine("", "", 0, "", ""), Environment("", "", "")),
    "traces": trace_from,
    "spans": span_from,
    "phases": phase_from,
    "parts": part_from,
    "insides": inside_from,
    "evidence": lambda row: evidence_from(row, "here"),
}
"""What reads a row of each table: a row that it cannot read is not stored. Of measurements the arguments
and what the interval covers can be unreadable, and making an object of each of a million would take longer than the rest."""


class RowCheck:
    """Looks at the rows of one table; a million of them should take seconds.

    Most rows hold the same kinds of values. Kinds that were looked at one by one once are known, and of their numbers and
    texts the sums alone are looked at.
    """

    def __init__(self, table: str, columns: Mapping[str, type]) -> None:
        self.names = tuple(columns)
        self._table = table
        self._columns = columns
        self._sound: dict[tuple[type, ...], tuple[list[bool], list[bool]]] = {}
        """Kinds of values that fit, with which of them are numbers and which are texts."""
        self._api = self.names.index("api") if table == "measurements" else -1
        self._arguments = self.names.index("arguments") if table == "measurements" else -1
        self._file = self.names.index("file") if table == "measurements" else -1
        self._covers = self.names.index("covers") if table == "measurements" else -1

    def __call__(self, values: Values) -> Values:
        """The values as the database keeps them; raises `BadRow` or one of `UNREADABLE`."""
        known = self._sound.get(tuple(map(type, values)))
        if (
            known is None
            or not sum(map(abs, compress(values, known[0]))) < _PLAIN
            or sum(map(len, compress(values, known[1]))) > LONGEST_TEXT
        ):
            values = self._each(values)
        if self._api >= 0:
            _signature(values[self._arguments])
            COVERS.index(values[self._covers])
            api = canonical(values[self._api])
            if api != values[self._api]:
                values = (*values[: self._api], api, *values[self._api + 1 :])
            file = shared_file(values[self._file])
            if file != values[self._file]:
                values = (*values[: self._file], file, *values[self._file + 1 :])
            return values
        row = shared_row(self._table, dict(zip(self.names, values, strict=True)))
        _READERS[self._table](row)
        return tuple(row[name] for name in self.names)

    def _each(self, values: Values) -> Values:
        """The values, each looked at by itself."""
        found = tuple(
            _stored(name, kind, value)
            for (name, kind), value in zip(self._columns.items(), values, strict=True)
        )
        kinds = tuple(map(type, found))
        self._sound[kinds] = (
            [kind in (int, float) for kind in kinds],
            [kind is str for kind in kinds],
        )
        return found


def _stored(name: str, kind: type, value: Any) -> Any:
    """A value as it is stored; raises `BadRow` for one that cannot be."""
    if value is None and name in NULLABLE:
        return value
    if kind is bytes and isinstance(value, str):
        return base64.b64decode(value, validate=True)
    if isinstance(value, bool) or (isinstance(value, int) and abs(value) > _LARGEST_INTEGER):
        raise BadRow(f"a value cannot be stored ({name!r})")
    if not isinstance(value, (int, float) if kind is float else kind):
        raise BadRow(f"{name!r} is not {'a number' if kind in (int, float) else 'a text'}")
    if isinstance(value, str) and len(value) > (LONGEST_SERIES if name in _SERIES else LONGEST_TEXT):
        raise BadRow(f"{name!r} is longer than it can be")
    if isinstance(value, float) and not math.isfinite(value):
        raise BadRow(f"{name!r} is not a finite number")
    if isinstance(value, float) and abs(value) > LARGEST_NUMBER:
        raise BadRow(f"{name!r} is larger than anything measured")
    return value
