"""Names of positional parameters by API: a table made from the libraries themselves."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import resources
from typing import Any


@lru_cache(maxsize=1)
def parameters() -> Mapping[str, Sequence[str]]:
    """Names of positional parameters by API."""
    text = (
        resources.files("energy_code.static_shapes").joinpath("parameters.json").read_text(encoding="utf-8")
    )
    found: Mapping[str, Sequence[str]] = json.loads(text)
    return found


def bind(api: str, given: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments by parameter name, in the order in which they were given."""
    names = parameters().get(api, ())
    found = {names[place] if place < len(names) else f"#{place}": value for place, value in enumerate(given)}
    return {**found, **named}
