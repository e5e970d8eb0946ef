"""Finding the rules: every module of a package that defines one `Rule`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from energy_code.ruling.rule import Rule


def load(path: Iterable[str], package: str) -> Mapping[str, Rule]:
    """All rules of a package by name, in the order of their names."""
    rules: dict[str, Rule] = {}
    for module_info in sorted(pkgutil.iter_modules(path), key=lambda info: info.name):
        if module_info.name.startswith("_"):
            continue
        module = importlib.import_module(f"{package}.{module_info.name}")
        for value in vars(module).values():
            if isinstance(value, type) and issubclass(value, Rule) and value.__module__ == module.__name__:
                rule = value()
                rules[rule.name] = rule
    return MappingProxyType(rules)
