"""Writes the API catalogue from the installed TensorFlow and Keras: python tools/build_catalogue.py"""

from __future__ import annotations

import importlib
import inspect
import os
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
sys.path.insert(0, str(Path(__file__).parent))

import catalogue_stubs
from catalogue_knowledge import (
    INSTANCE_ATTRIBUTES,
    INSTANCE_CLASSES,
    NAMED_TUPLES,
    PRIVATE_CLASSES,
    RETURNS,
    TENSOR,
)
from catalogue_legacy import module_aliases, removed_names
from catalogue_purity import STATELESS_LAYERS, is_pure
from catalogue_returns import of_document, words

TABLE = Path(__file__).parents[1] / "data" / "energy_data" / "catalogue" / "catalogue.txt"
DUNDERS = set(
    words("""__init__ __call__ __enter__ __exit__ __iter__ __next__ __getitem__ __len__ __add__ __radd__
    __sub__ __rsub__
    __mul__ __rmul__ __truediv__ __rtruediv__ __floordiv__ __rfloordiv__ __mod__ __rmod__ __pow__ __rpow__
    __matmul__
    __rmatmul__ __neg__ __abs__ __invert__ __and__ __or__ __xor__ __lt__ __le__ __gt__ __ge__ __eq__
    __ne__""")
)
OTHER_LIBRARIES = frozenset(["absl"])
"""Members that classes inherit from them (assertions of tests) are not TensorFlow's, nor are those of Python's own
library, which differ between Pythons."""
CODES = {"function": "f", "method": "m", "property": "p", "class": "c", "module": "M"}


@dataclass
class Member:
    """A line of the table: something of its own, or a reference to the canonical name of an alias."""

    kind: str
    returns: str | None = None
    removed_in: str = ""
    refers_to: str = ""


@dataclass
class Owner:
    """A block of the table: a module or class with its members."""

    name: str
    kind: str
    bases: list[str] = field(default_factory=list)
    removed_in: str = ""
    members: dict[str, Member] = field(default_factory=dict)


def is_public_module(value: object) -> bool:
    """True for the modules that make up the public API."""
    if not isinstance(value, types.ModuleType):
        return False
    try:
        name = value.__name__
    except AttributeError:  # TensorFlow 1's Keras, which refuses to load under Keras 3
        return False
    if name.startswith("keras"):
        return not name.startswith("keras.src")
    return name == "tensorflow" or name.startswith(("tensorflow._api.v2", "tensorflow.experimental"))


class Builder:
    """Walks the public modules, names every object once, and describes it."""

    def __init__(self) -> None:
        import keras
        import tensorflow

        self.roots: list[tuple[str, Any]] = [
            ("keras", keras),
            ("keras", importlib.import_module("keras._tf_keras.keras")),
            ("tensorflow", tensorflow),
        ]
        self.owners: dict[str, Owner] = {}
        self.objects: dict[int, Any] = {}
        self.paths: dict[int, list[str]] = {}
        self.canonical: dict[int, str] = {}
        stubs = Path(tensorflow.__file__).parents[1] / "tensorflow-stubs"
        self.stub_types = catalogue_stubs.read(stubs)

    # walking -----------------------------------------------------------------------------------------------

    def public_values(self) -> Iterator[tuple[str, str, Any]]:
        """(module path, name, value) of everything that a public module shows."""
        queue, seen = list(self.roots), set()
        while queue:
            path, module = queue.pop(0)
            if (
                (path, id(module)) in seen
                or ".compat.v1.compat" in path
                or path.startswith("tensorflow.compat.v2")
            ):
                continue
            seen.add((path, id(module)))
            self.owners.setdefault(path, Owner(path, "module"))
            for name in sorted(dir(module)):
                if name.startswith("_"):
                    continue
                try:
                    value = getattr(module, name)
                except (AttributeError, ImportError):
                    continue
                if is_public_module(value):
                    if not (name == "keras" and path.startswith("tensorflow")):
                        queue.append((f"{path}.{name}", value))
                elif not isinstance(value, types.ModuleType) or name not in ("src",):
                    yield path, name, value

    def collect(self) -> None:
        """Groups the public paths by the object they lead to, and picks each object's canonical name."""
        values = [item for item in self.public_values() if not isinstance(item[2], types.ModuleType)]
        for path, name, value in values:
            if inspect.isclass(value) or callable(value) or self._is_constant(value):
                self.objects[id(value)] = value
                self.paths.setdefault(id(value), []).append(f"{path}.{name}")
        for key, paths in self.paths.items():
            self.canonical[key] = self.preferred(self.objects[key], paths)
        for path, name, value in values:
            members = self.owners[path].members
            if id(value) in self.canonical:
                members.setdefault(name, Member("", refers_to=self.canonical[id(value)]))
            else:
                members.setdefault(name, Member("property"))

    @staticmethod
    def _is_constant(value: object) -> bool:
        return type(value).__name__ == "DType"

    def preferred(self, value: Any, paths: list[str]) -> str:
        """The name that TensorFlow or Keras itself calls canonical, else the shortest."""
        from keras.src.api_export import REGISTERED_OBJS_TO_NAMES
        from tensorflow.python.util import tf_export

        names = list(dict.fromkeys(paths))
        try:
            registered = REGISTERED_OBJS_TO_NAMES.get(value)
        except TypeError:
            registered = None
        exported = tf_export.get_canonical_name_for_symbol(value, add_prefix_to_v1_names=True)
        for wanted in (registered, f"tensorflow.{exported}" if exported else None):
            if wanted in names:
                return str(wanted)
        return min(names, key=lambda name: (".compat." in name, name.count("."), len(name), name))

    # describing --------------------------------------------------------------------------------------------

    def describe(self) -> None:
        """Adds every function to its module and every class as a block with its own members."""
        classes = [key for key in self.canonical if inspect.isclass(self.objects[key])]
        for key in self.canonical.keys() - set(classes):
            name = self.canonical[key]
            module, _, last = name.rpartition(".")
            value = self.objects[key]
            kind = "property" if self._is_constant(value) else "function"
            returns = "tensorflow.dtypes.DType" if kind == "property" else self._returns(name, value)
            self.owners[module].members[last] = Member(kind, returns)
        for dotted in PRIVATE_CLASSES:
            module, _, last = dotted.rpartition(".")
            value = getattr(importlib.import_module(module), last)
            self.objects[id(value)], self.canonical[id(value)] = value, dotted
            classes.append(id(value))
        for key in classes:
            self._describe_class(self.canonical[key], self.objects[key])
        for dotted in NAMED_TUPLES:
            self._describe_tuple(dotted)
        for name in self.canonical.values():  # returned classes have to be known
            self._check_returns(name)

    def _describe_class(self, name: str, cls: type) -> None:
        bases = self.public_bases(cls)
        owner = self.owners[name] = Owner(name, "class", [self.canonical[id(base)] for base in bases])
        inherited = {id(ancestor) for base in bases for ancestor in base.__mro__}
        self._add_members(owner, cls, inherited)
        for spec in INSTANCE_CLASSES.get(name, ()):
            module, _, private = spec.partition(":")
            self._add_members(owner, getattr(importlib.import_module(module), private), inherited)

    def _describe_tuple(self, dotted: str) -> None:
        module, _, last = dotted.rpartition(".")
        owner = self.owners[dotted] = Owner(dotted, "class")
        for name in getattr(importlib.import_module(module), last)._fields:
            owner.members[name] = Member("property", TENSOR)
        owner.members["__iter__"] = Member("method", f"iterator[{TENSOR}]")
        owner.members["__getitem__"] = Member("method", TENSOR)

    def _add_members(self, owner: Owner, cls: type, inherited: set[int]) -> None:
        for attribute in sorted(dir(cls)):
            if attribute.startswith("_") and attribute not in DUNDERS:
                continue
            home = next((ancestor for ancestor in cls.__mro__ if attribute in vars(ancestor)), None)
            if home is None or id(home) in inherited or attribute in owner.members:
                continue
            library = home.__module__.partition(".")[0]
            if library in sys.stdlib_module_names or library in OTHER_LIBRARIES:
                continue
            owner.members[attribute] = self._describe_attribute(
                owner.name, attribute, vars(home)[attribute], cls
            )

    def _describe_attribute(self, owner: str, attribute: str, raw: Any, cls: type) -> Member:
        name = f"{owner}.{attribute}"
        value = getattr(cls, attribute, raw)
        if inspect.isclass(value):
            if id(value) not in self.canonical:
                return Member("property")
            return Member("", refers_to=self.canonical[id(value)])
        kind = "method" if callable(value) and not isinstance(raw, property) else "property"
        return Member(kind, self._returns(name, raw if kind == "property" else value))

    def public_bases(self, cls: type) -> list[type]:
        """The nearest public ancestors, the private ones in between left out."""
        bases: list[type] = []
        for ancestor in cls.__mro__[1:]:
            covered = any(issubclass(base, ancestor) for base in bases)
            if id(ancestor) in self.canonical and not covered:
                bases.append(ancestor)
        return bases

    def _returns(self, name: str, value: Any) -> str | None:
        if name in RETURNS:
            return RETURNS[name]
        if name.endswith(".__enter__"):
            return "self"
        aliases = [name, *self.paths.get(id(value), ())]
        if name.startswith("keras."):
            aliases += [f"tensorflow.{alias}" for alias in aliases]
        if "." in name:  # a method: the stubs may know its class under an alias
            owner, _, last = name.rpartition(".")
            aliases += [f"{path}.{last}" for key, path in self._class_aliases(owner)]
        found = next((self.stub_types[alias] for alias in aliases if alias in self.stub_types), None)
        return found or of_document(name, inspect.getdoc(value) or "")

    def _class_aliases(self, owner: str) -> list[tuple[int, str]]:
        if not hasattr(self, "_by_name"):
            self._by_name = {name: key for key, name in self.canonical.items()}
        key = self._by_name.get(owner)
        return [(key, path) for path in self.paths.get(key, ())] if key is not None else []

    def _check_returns(self, name: str) -> None:
        owner = self.owners.get(name)
        if owner is None:
            return
        for member in owner.members.values():
            member.returns = self.known_type(member.returns)

    def known_type(self, text: str | None) -> str | None:
        """The type with canonical names; None where it names something the catalogue does not know."""
        if text is None:
            return None
        outer, bracket, inner = text.partition("[")
        if bracket:
            parts = [self.known_type(part) for part in split_types(inner[:-1])]
            return None if None in parts else f"{outer}[{', '.join(str(part) for part in parts)}]"
        if text.startswith(("tensorflow.", "keras.")):
            return self._resolve(text)
        return "numpy.ndarray" if text == "numpy.typing.NDArray" else text

    def _resolve(self, dotted: str) -> str | None:
        if dotted in self.owners:
            return dotted
        dotted = dotted.replace("tensorflow.keras", "keras", 1)
        module, _, last = dotted.rpartition(".")
        member = self.owners[module].members.get(last) if module in self.owners else None
        return member.refers_to or None if member else (dotted if dotted in self.owners else None)

    # what cannot be seen -----------------------------------------------------------------------------------

    def add_unseen(self) -> None:
        """Attributes of instances, removed names, and the private spellings of public objects."""
        for dotted in INSTANCE_ATTRIBUTES:
            owner, _, name = dotted.rpartition(".")
            self.owners[owner].members[name] = Member("property", RETURNS.get(dotted))
        for dotted, old in removed_names().items():
            owner, _, name = dotted.rpartition(".")
            self._ensure_module(owner, old.removed_in)
            if name in self.owners[owner].members and not old.removed_in:
                continue
            if name in self.owners[owner].members:
                print(f"not removed after all: {dotted}")
                continue
            if old.kind == "class":
                self.owners[dotted] = Owner(dotted, "class", self._legacy_bases(old.base), old.removed_in)
                self.owners[owner].members[name] = Member("", refers_to=dotted)
            else:
                self.owners[owner].members[name] = Member(old.kind, old.returns, old.removed_in)
        self.add_definitions()

    def _legacy_bases(self, base: str | None) -> list[str]:
        resolved = self._resolve(base) if base else None
        if base and resolved is None:
            raise SystemExit(
                f"the base {base} of a removed class is not in the catalogue: correct catalogue_legacy.py"
            )
        return [resolved] if resolved else []

    def _ensure_module(self, path: str, removed_in: str) -> None:
        if path in self.owners or not path:
            return
        parent = path.rpartition(".")[0]
        self._ensure_module(parent, removed_in)
        self.owners[path] = Owner(path, "module", removed_in=removed_in)

    def add_definitions(self) -> None:
        """`tensorflow.python.ops.math_ops.add` and the like: where a public object is defined."""
        for key, name in self.canonical.items():
            value = (
                inspect.unwrap(self.objects[key])
                if not inspect.isclass(self.objects[key])
                else self.objects[key]
            )
            module, last = getattr(value, "__module__", None), getattr(value, "__qualname__", "")
            if not isinstance(module, str) or not module.startswith(("tensorflow.python.", "keras.src.")):
                continue
            if (
                "." in last
                or not last
                or module.startswith("tensorflow.python.keras")
                or getattr(sys.modules.get(module), last, None) is not self.objects[key]
            ):
                continue
            self._ensure_module(module, "")
            self.owners[module].members.setdefault(last, Member("", refers_to=name))

    def report_unused(self) -> None:
        """Names what the tables of knowledge say of something that the catalogue does not have."""
        for dotted in RETURNS:
            owner, _, name = dotted.rpartition(".")
            if dotted.rpartition(".")[2].startswith("__"):
                continue
            member = self.owners[owner].members.get(name) if owner in self.owners else None
            if member is None or member.refers_to:
                print(f"unused knowledge: {dotted}")

    # writing -----------------------------------------------------------------------------------------------

    def write(self, path: Path) -> None:
        """An index of the blocks, an empty line, the blocks."""
        for owner in self.owners.values():
            if owner.kind == "module":
                self._check_returns(owner.name)
        blocks = {name: self._block(owner) for name, owner in sorted(self.owners.items())}
        index, offset = [], 0
        for name, block in blocks.items():
            index.append(f"{name}\t{offset}\t{len(block)}")
            offset += len(block)
        for alias, target in sorted(module_aliases().items()):
            if alias not in blocks:
                index.append(f"{alias}\t={target}")
        path.write_text("\n".join(index) + "\n\n" + "".join(blocks.values()), encoding="ascii", newline="\n")
        names = sum(len(owner.members) for owner in self.owners.values())
        print(f"{len(blocks)} modules and classes, {names} names, {path.stat().st_size:,} bytes")

    def inherit_returns(self) -> None:
        """A member that says nothing of its result gives what the member it overrides gives."""
        for owner in self.owners.values():
            for base in self._ancestors(owner.name)[1:] if owner.kind == "class" else ():
                for name, member in owner.members.items():
                    if member.returns is None and not member.refers_to and name in self.owners[base].members:
                        member.returns = self.owners[base].members[name].returns

    def _ancestors(self, name: str) -> list[str]:
        found = [name]
        for base in self.owners[name].bases:
            found += [item for item in self._ancestors(base) if item not in found]
        return found

    def _block(self, owner: Owner) -> str:
        pure = owner.kind == "class" and is_pure(owner.name, "class", [])
        head = (
            f"{CODES[owner.kind]}{'+' if pure else '-'}\t{','.join(owner.bases)}\t{owner.removed_in}".rstrip(
                "\t"
            )
        )
        lines = [head]
        lineage = self._ancestors(owner.name) if owner.kind == "class" else []
        if STATELESS_LAYERS.fullmatch(owner.name):  # a line of its own: the inherited one is not pure
            owner.members.setdefault("__call__", Member("method", TENSOR))
        for name, member in sorted(owner.members.items()):
            if member.refers_to:
                short = "" if member.refers_to == f"{owner.name}.{name}" else member.refers_to
                lines.append(f"{name}\t={short}")
                continue
            pure = is_pure(f"{owner.name}.{name}", member.kind, lineage)
            returns = "" if member.returns is None else ("~" if member.returns == TENSOR else member.returns)
            code = f"{CODES[member.kind]}{'+' if pure else '-'}"
            lines.append(f"{name}\t{code}\t{returns}\t{member.removed_in}".rstrip("\t"))
        return "\n".join(lines) + "\n"


def split_types(text: str) -> list[str]:
    """The parts of `A, B[C, D]` at the outermost commas."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "[") - (letter == "]")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def build() -> Builder:
    builder = Builder()
    builder.collect()
    builder.describe()
    builder.add_unseen()
    builder.inherit_returns()
    return builder


def main() -> None:
    builder = build()
    builder.report_unused()
    builder.write(TABLE)


if __name__ == "__main__":
    main()
