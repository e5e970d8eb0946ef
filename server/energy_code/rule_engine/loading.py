"""Finding the rules: every module of a package that defines one `Rule`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from energy_code.rule_engine.rule import Rule


def load(*packages: tuple[Iterable[str], str]) -> Mapping[str, Rule]:
    """All rules of some packages (path and name) by name, in the order of the packages and of their modules."""
    rules: dict[str, Rule] = {}
    for name in (name for path, package in packages for name in _modules(path, package)):
        module = importlib.import_module(name)
        for value in vars(module).values():
            if isinstance(value, type) and issubclass(value, Rule) and value.__module__ == module.__name__:
                rule = value()
                rules[rule.name] = rule
    return MappingProxyType(rules)


def _modules(path: Iterable[str], package: str) -> list[str]:
    return sorted(
        f"{package}.{info.name}" for info in pkgutil.iter_modules(path) if not info.name.startswith("_")
    )
