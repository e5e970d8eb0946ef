"""Methods of Python's own texts, lists and dictionaries."""

from __future__ import annotations

from typing import Any

from energy_code.static_shapes.limits import LONGEST_LIST
from energy_code.static_shapes.values.kinds import UNKNOWN, Items, Table
from energy_code.static_shapes.values.structures import items_of

Given = list[Any]
Named = dict[str, Any]


def text_method(owner: str, name: str, given: Given) -> Any:
    """Methods of texts that give texts."""
    if name in ("lower", "upper", "strip", "title") and not given:
        return getattr(owner, name)()
    if name in ("startswith", "endswith") and given and isinstance(given[0], str):
        return getattr(owner, name)(given[0])
    if name == "split" and all(isinstance(each, str) for each in given):
        return Items(owner.split(*given)[:LONGEST_LIST])
    return UNKNOWN


def list_method(owner: Items, name: str, given: Given, certain: bool) -> Any:
    """Methods of lists; what may or may not happen makes one unknown."""
    if name in ("append", "extend", "insert", "pop", "clear", "remove", "sort", "reverse"):
        if not certain or len(owner) > LONGEST_LIST:
            owner.known = False
            return UNKNOWN
        if name == "append" and given:
            owner.append(given[0])
        elif name == "extend" and given:
            more = items_of(given[0])
            if more is None:
                owner.known = False
            else:
                owner.extend(more)
        elif name == "pop" and owner:
            place = given[0] if given else -1
            if isinstance(place, int) and -len(owner) <= place < len(owner):
                return owner.pop(place)
            owner.known = False
        elif name == "insert" and len(given) == 2 and isinstance(given[0], int):
            owner.insert(given[0], given[1])
        elif name == "reverse":
            owner.reverse()
        elif name == "clear":
            owner.clear()
        else:
            owner.known = False
        return None
    if name == "copy":
        return Items(owner)
    return UNKNOWN


def table_method(owner: Table, name: str, given: Given, named: Named, certain: bool) -> Any:
    """Methods of dictionaries."""
    if not owner.known:
        return UNKNOWN
    if name == "get" and given:
        fallback = given[1] if len(given) > 1 else None
        return owner.get(given[0], fallback) if isinstance(given[0], (str, int, tuple)) else UNKNOWN
    if name == "items":
        return Items(owner.items())
    if name == "values":
        return Items(owner.values())
    if name == "keys":
        return Items(owner)
    if name == "copy":
        return Table(owner)
    if name in ("pop", "setdefault", "update", "clear", "popitem"):
        if not certain:
            owner.known = False
            return UNKNOWN
        if name == "update" and all(isinstance(each, Table) for each in given):
            for each in given:
                owner.update(each)
            owner.update(named)
            return None
        if name == "pop" and given and isinstance(given[0], (str, int)):
            return owner.pop(given[0], given[1] if len(given) > 1 else UNKNOWN)
        if name == "setdefault" and len(given) == 2 and isinstance(given[0], (str, int)):
            return owner.setdefault(given[0], given[1])
        owner.known = False
    return UNKNOWN
