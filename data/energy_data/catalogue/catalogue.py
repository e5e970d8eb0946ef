"""Every public TensorFlow and Keras name: what it is, what a call of it gives, where it is documented.

The table next to this module is made by tools/build_catalogue.py. It is read as one text; the block of a
module or class is only taken apart when somebody asks for it, so that loading costs next to nothing.
"""

from __future__ import annotations

import os.path
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from energy_data.catalogue.entry import Entry as Entry
from energy_data.catalogue.entry import Kind

_KINDS: dict[str, Kind] = {"f": "function", "m": "method", "p": "property", "c": "class", "M": "module"}
_TENSOR = "tensorflow.Tensor"
_V1 = "tensorflow.compat.v1"
_DOCUMENTATION = "https://www.tensorflow.org"


class _Block(NamedTuple):
    """A module or class: its own entry, and its members as the lines of the table."""

    entry: Entry
    members: dict[str, str]


class Catalogue:
    """Look-up by any public name; see `load`."""

    def __init__(self, text: str) -> None:
        index, _, self._blocks_text = text.partition("\n\n")
        self._places: dict[str, tuple[int, int]] = {}
        self._aliases: dict[str, str] = {}
        for line in index.split("\n"):
            name, place = line.split("\t", 1)
            if place[0] == "=":
                self._aliases[name] = place[1:]
            else:
                start, _, length = place.partition("\t")
                self._places[name] = (int(start), int(length))
        self._blocks: dict[str, _Block] = {}
        self._entries: dict[str, Entry | None] = {}
        self._members: dict[str, Mapping[str, Entry]] = {}
        self._lineages: dict[str, tuple[str, ...]] = {}

    @classmethod
    def load(cls) -> Catalogue:
        """The catalogue of this package, read once per process."""
        return _load()

    def find(self, dotted: str) -> Entry | None:
        """The entry of a full name, whichever alias it is written with; None for what is not public."""
        try:
            return self._entries[dotted]
        except KeyError:
            entry = self._entries[dotted] = self._find(dotted) or self._find_in_version_1(dotted)
            return entry

    def canonical(self, dotted: str) -> str | None:
        """The canonical name of what people or records write: "tf.add", "tensorflow.keras.Sequential.fit()".

        Understands the expressions that published records use as names, such as
        "tensorflow.data.Dataset.from_tensor_slices(x).batch()".
        """
        # it works on the catalogue, and only commands ask for it
        from energy_data.catalogue import expressions as api_expressions

        return api_expressions.canonical(self, dotted)

    def member(self, owner: str, name: str) -> Entry | None:
        """The member of a module or class, inherited members included."""
        found = self.find(owner)
        if found is None or found.kind not in ("module", "class"):
            return None
        return self.find(f"{found.name}.{name}")

    def members(self, owner: str) -> Mapping[str, Entry]:
        """All members of a module or class by name, what a star import of a module would bring."""
        found = self.find(owner)
        if found is None or found.name not in self._places:
            return {}
        if found.name not in self._members:
            names = [name for home in self.lineage(found.name) for name in self._block(home).members]
            if found.kind == "module":
                names += self._submodules(found.name)
            entries = {name: self.find(f"{found.name}.{name}") for name in names}
            self._members[found.name] = {name: entry for name, entry in entries.items() if entry}
        return self._members[found.name]

    def is_subclass(self, name: str, base: str) -> bool:
        """True when the first class is the second or inherits from it."""
        found, ancestor = self.find(name), self.find(base)
        if found is None or ancestor is None or found.kind != "class":
            return False
        return ancestor.name in self.lineage(found.name)

    def url(self, name: str) -> str | None:
        """The page that documents a name."""
        entry = self.find(name)
        if entry is None or entry.name.startswith(
            ("tensorflow.python.", "tensorflow.contrib", "tensorflow.examples")
        ):
            return None
        page, anchor = entry.name, ""
        if entry.kind in ("method", "property") and (owner := self.find(page.rpartition(".")[0])):
            page, anchor = owner.name, f"#{entry.name.rpartition('.')[2]}"
            if owner.kind == "module":
                anchor = "#other_members"
        path = (
            page.replace("keras", "tf/keras", 1)
            if page.startswith("keras")
            else page.replace("tensorflow", "tf", 1)
        )
        gone = entry.removed_in in ("TensorFlow 2.16", "Keras 3")
        edition = "/versions/r2.15" if gone else ""
        return f"{_DOCUMENTATION}{edition}/api_docs/python/{path.replace('.', '/')}{anchor}"

    def names(self) -> Iterator[str]:
        """Every canonical name: modules, classes, functions, and members where they are defined."""
        for owner in self._places:
            yield owner
            for name, line in self._block(owner).members.items():
                if line[0] != "=":
                    yield f"{owner}.{name}"

    def lineage(self, name: str) -> tuple[str, ...]:
        """A canonical class and its public ancestors, nearest first; for a module itself alone."""
        if name not in self._lineages:
            found = [name]
            for base in self._block(name).entry.bases:
                found += [ancestor for ancestor in self.lineage(base) if ancestor not in found]
            self._lineages[name] = tuple(found)
        return self._lineages[name]

    # how a name is found ------------------------------------------------------------

    def _find(self, dotted: str) -> Entry | None:
        if dotted in self._places:
            return self._block(dotted).entry
        if dotted in self._aliases:
            return self.find(self._aliases[dotted])
        head, _, last = dotted.rpartition(".")
        owner = self.find(head) if head else None
        if owner is None or owner.name not in self._places:
            return None
        if owner.name != head and (found := self.find(f"{owner.name}.{last}")):
            return found if owner.removed_in is None else found._replace(removed_in=owner.removed_in)
        for home in self.lineage(owner.name):
            if line := self._block(home).members.get(last):
                return self._entry(owner, home, last, line)
        return None

    def _find_in_version_1(self, dotted: str) -> Entry | None:
        """`tensorflow.Session`, as TensorFlow 1 had it, is `tensorflow.compat.v1.Session` now."""
        if not dotted.startswith("tensorflow.") or dotted.startswith(
            ("tensorflow.compat.", "tensorflow.keras")
        ):
            return None
        old = f"{_V1}{dotted[len('tensorflow') :]}"
        home = self.find(old.rpartition(".")[0])
        if home is None or not home.name.startswith(_V1):
            return None
        found = self.find(old)
        return found._replace(removed_in=found.removed_in or "TensorFlow 2.0") if found else None

    def _entry(self, owner: Entry, home: str, name: str, line: str) -> Entry | None:
        if line[0] == "=":
            return self.find(line[1:] or f"{home}.{name}")
        fields = line.split("\t")
        returns = (fields[1] if len(fields) > 1 else "") or None
        return Entry(
            f"{owner.name}.{name}",
            _KINDS[line[0]],
            returns=_TENSOR if returns == "~" else returns,
            pure=line[1] == "+",
            removed_in=fields[2] if len(fields) > 2 else owner.removed_in,
        )

    def _block(self, name: str) -> _Block:
        try:
            return self._blocks[name]
        except KeyError:
            start, length = self._places[name]
            head, *lines = self._blocks_text[start : start + length - 1].split("\n")
            code, bases, removed_in = (*head.split("\t"), "", "")[:3]
            kind = _KINDS[code[0]]
            entry = Entry(
                name,
                kind,
                bases=tuple(bases.split(",")) if bases else (),
                returns=name if kind == "class" else None,
                pure=code[1] == "+",
                removed_in=removed_in or None,
            )
            members = dict(line.split("\t", 1) for line in lines)
            block = self._blocks[name] = _Block(entry, members)
            return block

    def _submodules(self, owner: str) -> list[str]:
        prefix = f"{owner}."
        known = [*self._places, *self._aliases]
        rests = (name[len(prefix) :] for name in known if name.startswith(prefix))
        return [rest for rest in rests if "." not in rest and rest[0].islower()]


@lru_cache(maxsize=1)
def _load() -> Catalogue:
    # open() rather than pathlib, whose import alone would take longer than reading the table
    with open(os.path.join(os.path.dirname(__file__), "catalogue.txt"), encoding="ascii") as table:
        return Catalogue(table.read())
