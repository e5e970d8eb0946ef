"""The catalogue as the interpreter sees it: public names as values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from energy_code.interpreter.domain.values import (
    UNKNOWN,
    ApiClass,
    ApiFunction,
    ApiInstance,
    ApiModule,
    Mapping,
    Sequence,
    Value,
)

if TYPE_CHECKING:
    from energy_data.catalogue.catalogue import Catalogue, Entry


NEARLY_ALL = 0.8


class CatalogueAnswers:
    """What was looked up in a catalogue so far: the same for all programs."""

    def __init__(self) -> None:
        self.members: dict[tuple[str, str], Entry | None] = {}
        self.module_members: dict[tuple[str, str], Value] = {}
        self.parsed: dict[str, Value] = {}
        self.effects: dict[str, Callable[..., Value] | None] = {}
        self.common_classes: dict[str, tuple[str, bool] | None] = {}


FOUND: WeakKeyDictionary[Catalogue, CatalogueAnswers] = WeakKeyDictionary()


def entry_value(entry: Entry) -> Value:
    """The value of a catalogue entry met on its own (not through an instance)."""
    if entry.kind == "module":
        return ApiModule(entry.name)
    if entry.kind == "class":
        return ApiClass(entry.name)
    if entry.kind == "property":
        return UNKNOWN
    return ApiFunction(entry.name)


class PublicNames:
    """Look-ups in the catalogue, each made once."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        found = FOUND.setdefault(catalogue, CatalogueAnswers())
        self.members = found.members
        self.module_members = found.module_members
        self.parsed = found.parsed
        self.effects = found.effects
        self.common_classes = found.common_classes

    def find(self, name: str) -> Entry | None:
        """The catalogue entry of a full name."""
        return self.catalogue.find(name)

    def member(self, owner: str, name: str) -> Entry | None:
        """The catalogue entry of a member."""
        key = (owner, name)
        try:
            return self.members[key]
        except KeyError:
            entry = self.members[key] = self.catalogue.member(owner, name)
            return entry

    def module_member(self, owner: str, name: str) -> Value:
        """A public name of a public module, as a value."""
        key = (owner, name)
        value = self.module_members.get(key)
        if value is None:
            entry = self.catalogue.member(owner, name)
            value = self.module_members[key] = entry_value(entry) if entry is not None else UNKNOWN
        return value

    def common_class(self, module: str) -> tuple[str, bool] | None:
        """The class that what a module's members give shares, and whether they are constructors of it."""
        if module not in self.common_classes:
            self.common_classes[module] = self.find_common_class(module)
        return self.common_classes[module]

    def find_common_class(self, module: str) -> tuple[str, bool] | None:
        """The nearest class that nearly all classes of a module are of, or nearly all functions give."""
        members = self.catalogue.members(module).values()
        classes = [entry.name for entry in members if entry.kind == "class"]
        given = [entry.returns for entry in members if entry.kind == "function"]
        constructors = len(classes) > len(given)
        names = classes if constructors else [name for name in given if name is not None]
        lineages = [self.catalogue.lineage(entry.name) for name in names if (entry := self.find(name))]
        shared = Counter(ancestor for lineage in lineages for ancestor in lineage)
        common = [
            name for name, count in shared.items() if count >= NEARLY_ALL * max(len(classes), len(given))
        ]
        nearest = max(common, key=lambda name: len(self.catalogue.lineage(name)), default=None)
        return (nearest, constructors) if nearest is not None else None

    def spellings(self, api: str) -> list[str]:
        """Public names of an API, the usual ones first."""
        names = [api]
        if api.startswith("keras."):
            names.append(f"tensorflow.{api}")
        elif api.startswith("tensorflow."):
            short = f"tensorflow.{api.rpartition('.')[2]}"
            entry = self.find(short)
            if entry is not None and entry.name == api and entry.removed_in is None:
                names.insert(0, short)
        return names

    def returned_value(self, text: str) -> Value:
        """What the catalogue says a call gives, as a value: `keras.Model`, `list[keras.Layer]`, `tuple[X, Y]`."""
        known = self.parsed.get(text)
        if known is None:
            known = self.parsed[text] = self.parse_returned(text)
        return known

    def parse_returned(self, text: str) -> Value:
        """Take the catalogue's notation apart."""
        head, bracket, rest = text.partition("[")
        if not bracket:
            entry = self.find(text)
            return ApiInstance(entry.name) if entry is not None and entry.kind == "class" else UNKNOWN
        parts = [self.returned_value(part) for part in split_top_level(rest[:-1])]
        if head == "tuple":
            return Sequence("tuple", tuple(parts))
        if head == "dict":
            return Mapping((), parts[-1])
        return Sequence("list" if head == "list" else "iterator", None, parts[0]) if parts else UNKNOWN


def split_top_level(text: str) -> list[str]:
    """Split at the commas that stand in no bracket."""
    parts: list[str] = []
    depth, start = 0, 0
    for position, character in enumerate(text):
        depth += (character == "[") - (character == "]")
        if character == "," and depth == 0:
            parts.append(text[start:position].strip())
            start = position + 1
    parts.append(text[start:].strip())
    return parts
