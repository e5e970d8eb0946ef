"""The one place that parses JSON of others: `{},` takes three bytes of a file and seventy of memory."""

from __future__ import annotations

import json
from typing import Any

MOST_VALUES = 5_000_000
"""In one text; the largest notebooks and records that were met hold a tenth of it."""


def parse_json(text: str | bytes) -> Any:
    """What a JSON text says. Raises ValueError for one that is none, or that holds more values than any of ours."""
    if len(text) > MOST_VALUES and _values(text) > MOST_VALUES:
        raise ValueError(f"it holds more than {MOST_VALUES:,} values")
    return json.loads(text)


def _values(text: str | bytes) -> int:
    """No fewer than the values in a text: what stands in strings is counted, too."""
    if isinstance(text, bytes):
        return text.count(b",") + text.count(b"[") + text.count(b"{")
    return text.count(",") + text.count("[") + text.count("{")
