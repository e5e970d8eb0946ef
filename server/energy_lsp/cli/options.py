"""The settings as options of a command: same names, same types, same texts."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import Field, fields
from typing import Any, TypeVar

import click

from energy_lsp.workspace.settings import Settings, kebab

TEXTS = frozenset({"price_currency"})
"""Settings that are a text and not a path."""
Function = TypeVar("Function", bound=Callable[..., Any])


def setting_options(*names: str) -> Callable[[Function], Function]:
    """Options for these settings; what is not given stays None and leaves the choice to `pyproject.toml`."""
    known = {option.name: option for option in fields(Settings)}

    def decorate(function: Function) -> Function:
        for name in reversed(names):
            function = _option(known[name])(function)
        return function

    return decorate


class Finite(click.FloatRange):
    """click's, which takes `nan` and `inf` for numbers in any range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number that was written."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number


class Variable(click.ParamType[tuple[str, str]]):
    """A variable of an environment with its value."""

    name = "NAME=VALUE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Name and value; a value may be empty and hold further signs of equality."""
        name, sign, text = value.partition("=") if isinstance(value, str) else ("", "", "")
        if not sign or not (name.isascii() and name.isidentifier()) or "\0" in text:
            self.fail("give NAME=VALUE, where NAME has letters, digits and underscores.", param, ctx)
        return name, text


def variables_option(function: Function) -> Function:
    """`--env`, for commands that run a program."""
    text = "A variable of the program's environment; may be repeated. Its value is not stored."
    return click.option("--env", "variables", type=Variable(), multiple=True, help=text)(function)


def _option(setting: Field[Any]) -> Callable[[Function], Function]:
    name = kebab(setting.name)
    text = setting.metadata["text"].replace("`", "")
    default = setting.default
    if isinstance(default, bool):
        return click.option(f"--{name}/--no-{name}", default=None, help=text)
    if isinstance(default, tuple):
        return click.option(f"--{name}", multiple=True, metavar="NAME", help=f"{text} May be repeated.")
    if setting.metadata["choices"]:
        return click.option(f"--{name}", type=click.Choice(setting.metadata["choices"]), help=text)
    if isinstance(default, str):
        return click.option(f"--{name}", metavar="TEXT" if setting.name in TEXTS else "PATH", help=text)
    kind = click.IntRange(min=0) if isinstance(default, int) else Finite(min=0)
    return click.option(f"--{name}", type=kind, help=text)


def given(options: dict[str, Any]) -> dict[str, object]:
    """The settings among a command's arguments that somebody gave."""
    names = {option.name for option in fields(Settings)}
    chosen: dict[str, object] = {}
    for name, value in options.items():
        if name in names and value not in (None, ()):
            chosen[name] = split(value) if isinstance(value, tuple) else value
    return chosen


def split(values: tuple[str, ...]) -> tuple[str, ...]:
    """`--select a,b --select c` names three."""
    return tuple(part.strip() for value in values for part in value.split(",") if part.strip())
