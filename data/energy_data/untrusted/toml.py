"""Settings files of others: read up to a size and a depth, with one sentence for whatever is wrong."""

from __future__ import annotations

import math
import re
import sys
from pathlib import Path
from typing import Any

from energy_data.untrusted.printable import one_line
from energy_data.untrusted.reading import LARGEST_SETTINGS, read_bytes

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LARGEST_NUMBER = 1e15
LONGEST_TEXT = 4096
"""As long as a path may be."""
_NESTED = re.compile(r"^[ \t]*([\w.\"'-]{1,80})[ \t]*=[ \t]*(?:[\[{]\s*){20}", re.MULTILINE)


class BadSettings(ValueError):  # noqa: N818 - what is wrong with a file
    """A file that is not read; `str()` of it is the reason."""


def read_toml(path: Path, *, within: Path | None = None) -> dict[str, Any]:
    """The tables of a file; raises FileNotFoundError where there is none and `BadSettings` for what cannot be read."""
    try:
        text = read_bytes(path, LARGEST_SETTINGS, within=within).decode("utf-8")
        return tomllib.loads(text)
    except FileNotFoundError:
        raise
    except OSError as problem:
        raise BadSettings(problem.strerror or str(problem)) from problem
    except UnicodeDecodeError as problem:
        raise BadSettings("it is not UTF-8") from problem
    except RecursionError as problem:
        found = _NESTED.search(text)
        what = f"`{one_line(found[1])}` is" if found else "it is"
        raise BadSettings(f"{what} nested too deeply") from problem
    except ValueError as problem:  # also a number of more digits than Python takes
        raise BadSettings(one_line(problem, 200)) from problem


def usable(value: object) -> object:
    """A value as it is; raises ValueError with the end of a sentence for one that no option can mean."""
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("must be a finite number")
    if isinstance(value, (int, float)) and abs(value) > LARGEST_NUMBER:
        raise ValueError("is too large a number")
    if isinstance(value, str):
        if "\0" in value:
            raise ValueError("holds a null character")
        if len(value) > LONGEST_TEXT:
            raise ValueError("is too long a text")
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise ValueError("holds a character that no file name can have") from None
    if isinstance(value, (list, tuple)):
        for item in value:
            usable(item)
    return value


def usable_path(text: str) -> str:
    """The text of a path; raises ValueError for a `~user` that this machine does not know."""
    try:
        Path(text).expanduser()
    except RuntimeError:
        raise ValueError(f"names a user that is not known here ({one_line(text, 80)})") from None
    return text
