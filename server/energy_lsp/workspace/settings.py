"""One set of options, whether they come from the editor, from `pyproject.toml` or from the command line.

An option is `hotspot-joules` in `pyproject.toml` and on the command line, `hotspotJoules` in an editor. The
command line wins over the editor, the editor over `pyproject.toml`. Editors send every option, also those
nobody touched: a value that equals the default therefore counts as not set.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

from energy_data.paths import project_root as project_root
from energy_data.untrusted.printable import one_line
from energy_data.untrusted.toml import BadSettings, read_toml, usable, usable_path

Severity = Literal["off", "hint", "information", "warning", "error"]
SEVERITIES: tuple[Severity, ...] = ("off", "hint", "information", "warning", "error")

SECTION = "energyLsp"
"""The section an editor keeps the options under; `[tool.energy-lsp]` in `pyproject.toml`."""

IGNORED_KEYS = frozenset({"trace", "server", "path", "heat", "measure"})
"""Keys that belong to others: to the editor's own extension, and `[tool.energy-lsp.measure]`."""


MOST_TOLD = 20
"""So many wrong options are named; a file of thousands is no typing error."""


def _about(
    text: str, *, choices: tuple[str, ...] = (), minimum: float | None = None, runs_or_opens: bool = False
) -> dict[str, Any]:
    """A setting's documentation, what values it takes, and whether it names something to open or to run."""
    return {"text": text, "choices": choices, "minimum": minimum, "runs_or_opens": runs_or_opens}


@dataclass(frozen=True, slots=True)
class Settings:
    """What a user can choose. The fields' metadata is the documentation page."""

    database: str = field(
        default="",
        metadata=_about(
            "Energy database to read and to measure into. Empty: `ENERGY_LSP_DB`, or the user's data folder.",
            runs_or_opens=True,
        ),
    )
    inlay_hints: bool = field(
        default=True, metadata=_about("Show joules behind the calls that the file's energy went into.")
    )
    inlay_percent: float = field(
        default=1.0,
        metadata=_about(
            "Show them from this share of the file's energy on, in percent. 0 shows every known call.",
            minimum=0,
        ),
    )
    code_lens: bool = field(
        default=True, metadata=_about("Show the sum above functions, classes and notebook cells.")
    )
    hotspots: int = field(
        default=3,
        metadata=_about("How many of a file's costliest calls are marked. 0 marks none by rank.", minimum=0),
    )
    hotspot_joules: float = field(
        default=0.0,
        metadata=_about(
            "Mark every call above this many joules (times its runs). 0 switches this off.", minimum=0
        ),
    )
    hotspot_severity: Severity = field(
        default="hint", metadata=_about("How a hotspot is shown; `off` shows none.", choices=SEVERITIES)
    )
    rule_severity: Severity = field(
        default="information",
        metadata=_about("How a cheaper alternative is shown; `off` shows none.", choices=SEVERITIES),
    )
    smallest_share: float = field(
        default=0.01,
        metadata=_about(
            "A cheaper alternative that saves less than this part of a run's energy is a hint, where that is known.",
            minimum=0,
        ),
    )
    select: tuple[str, ...] = field(
        default=(), metadata=_about("Only these substitution rules. Empty: all of them.")
    )
    ignore: tuple[str, ...] = field(default=(), metadata=_about("Leave these substitution rules out."))
    per_file_ignore: tuple[str, ...] = field(
        default=(),
        metadata=_about(
            "Leave a rule out in some files: texts like `tests/**:pow2`, a pattern relative to the project, a "
            "colon and a rule, or `*` for all rules."
        ),
    )
    exclude: tuple[str, ...] = field(
        default=(),
        metadata=_about("Files and folders to leave alone, as patterns relative to the project (`old/**`)."),
    )
    estimates: bool = field(
        default=True, metadata=_about("Show figures that a model estimated where no meter could measure.")
    )
    published: bool = field(
        default=True,
        metadata=_about(
            "Show published figures of an API, as an order of magnitude, where nothing else is known of a call."
        ),
    )
    workspace_diagnostics: bool = field(
        default=False, metadata=_about("Also report files that are not open, in editors that ask for it.")
    )
    budget: float = field(
        default=0.0,
        metadata=_about(
            "`check` fails when the known joules add up to more than this. 0: no budget.", minimum=0
        ),
    )
    grid_gco2_per_kwh: float = field(
        default=0.0,
        metadata=_about(
            "Grams of CO₂e of a kilowatt-hour where the program runs: reports show grams too. 0: not shown.",
            minimum=0,
        ),
    )
    price_per_kwh: float = field(
        default=0.0,
        metadata=_about("Price of a kilowatt-hour: reports show money too. 0: not shown.", minimum=0),
    )
    price_currency: str = field(default="", metadata=_about("The currency of that price, such as `EUR`."))
    pue: float = field(
        default=0.0,
        metadata=_about(
            "Power usage effectiveness of the data centre, such as 1.4: grams and money count the building. 0: not set.",
            minimum=0,
        ),
    )
    measure_python: str = field(
        default="",
        metadata=_about(
            "Interpreter that runs the program when measuring. Empty: the project's own.", runs_or_opens=True
        ),
    )
    measure_arguments: tuple[str, ...] = field(
        default=(),
        metadata=_about("Further options for `energy-lsp measure` from an editor.", runs_or_opens=True),
    )


DEFAULTS = Settings()
NAMES = tuple(option.name for option in fields(Settings))
OPENING = frozenset(option.name for option in fields(Settings) if option.metadata["runs_or_opens"])
"""Options that name something to open or to run: not for a workspace that nobody trusts."""


def kebab(name: str) -> str:
    """The spelling in `pyproject.toml` and on the command line."""
    return name.replace("_", "-")


def camel(name: str) -> str:
    """The spelling in an editor's settings."""
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


def snake(name: str) -> str:
    """The field's name for any of the spellings."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).replace("-", "_").lower()


def read(options: Mapping[str, object], where: str) -> tuple[dict[str, object], list[str]]:
    """Check options of one source. Returns the good ones by field name and a message for each wrong one."""
    known = {option.name: option for option in fields(Settings)}
    good: dict[str, object] = {}
    problems: list[str] = []
    for key, value in options.items():
        if len(problems) >= MOST_TOLD:
            problems.append(f"{where}: there are more wrong options than these.")
            break
        name, shown = snake(key), one_line(key, 60)
        if key in IGNORED_KEYS or value is None:
            continue
        if name not in known:
            near = _nearest(name)
            hint = f" Did you mean `{near}`?" if near else ""
            problems.append(f"{where}: there is no option `{shown}`.{hint}")
            continue
        default = getattr(DEFAULTS, name)
        try:
            good[name] = _checked(usable(value), default, known[name].metadata)
            if name == "database":
                usable_path(str(good[name]))
        except ValueError as problem:
            good.pop(name, None)
            problems.append(f"{where}: `{shown}` {problem}; using {_shown(default)}.")
    return good, problems


def combine(*layers: Mapping[str, object]) -> Settings:
    """Settings from layers of checked options, the strongest last; defaults in a layer count as not set."""
    chosen: dict[str, Any] = {}
    for layer in layers:
        chosen.update({name: value for name, value in layer.items() if value != getattr(DEFAULTS, name)})
    return replace(DEFAULTS, **chosen)


def read_pyproject(root: Path) -> tuple[dict[str, object], list[str]]:
    """Options in `[tool.energy-lsp]` of a project's `pyproject.toml`; none when there is no such file."""
    path = root / "pyproject.toml"
    try:
        table = read_toml(path, within=root)
    except FileNotFoundError:
        return {}, []
    except BadSettings as problem:
        return {}, [f"{path.name}: not readable ({problem}); its options are left out."]
    tool = table.get("tool", {})
    options = tool.get("energy-lsp", {}) if isinstance(tool, dict) else {}
    if not isinstance(options, dict):
        return {}, [f"{path.name}: `tool.energy-lsp` must be a table; its options are left out."]
    return read(options, path.name)


def _checked(value: object, default: object, metadata: Mapping[str, Any]) -> object:
    """The value in the option's own type. Raises ValueError that says what was expected."""
    if isinstance(default, bool):
        if isinstance(value, bool):
            return value
        raise ValueError("must be true or false")
    if isinstance(default, tuple):
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(",") if part.strip())
        if isinstance(value, (list, tuple)) and all(isinstance(part, str) for part in value):
            return tuple(value)
        raise ValueError("must be a list of texts")
    if isinstance(default, str):
        choices = metadata["choices"]
        if not isinstance(value, str) or (choices and value not in choices):
            expected = "one of " + ", ".join(choices) if choices else "a text"
            raise ValueError(f"must be {expected}")
        return value
    return _number(value, default, metadata["minimum"])


def _number(value: object, default: object, minimum: float | None) -> int | float:
    kind = int if isinstance(default, int) else float
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float))
        or (kind is int and value != int(value))
    ):
        raise ValueError(f"must be a {'whole ' if kind is int else ''}number")
    if minimum is not None and not value >= minimum:
        raise ValueError(f"must be at least {minimum:g}")
    return kind(value)


def _nearest(name: str) -> str | None:
    import difflib

    matches = difflib.get_close_matches(name[:60], NAMES, n=1)
    return kebab(matches[0]) if matches else None


def _shown(default: object) -> str:
    if isinstance(default, bool):
        return "true" if default else "false"
    if isinstance(default, tuple):
        return "[]"
    return repr(default) if isinstance(default, str) else f"{default:g}"
