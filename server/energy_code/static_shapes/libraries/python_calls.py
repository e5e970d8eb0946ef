"""Python's own functions, and the modules that programs read their settings from: `range`, `argparse`, `os.environ`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from energy_code.static_shapes.values.kinds import (
    SOME_NUMBER,
    UNKNOWN,
    Array,
    Class,
    Dataset,
    Instance,
    Items,
    Layer,
    Method,
    Model,
    Name,
    Table,
)
from energy_code.static_shapes.values.structures import items_of, truth

Given = list[Any]
Named = dict[str, Any]


def _numbers(given: Given) -> bool:
    return all(isinstance(each, (int, float)) and not isinstance(each, bool) for each in given)


def _range(given: Given, named: Named) -> Any:
    if given and all(isinstance(each, int) for each in given) and (len(given) < 3 or given[2]):
        return range(*given)
    return Method(SOME_NUMBER, "range")


def _len(given: Given, named: Named) -> Any:
    value = given[0] if given else UNKNOWN
    if isinstance(value, Array) and value.shape:
        return SOME_NUMBER if value.shape[0] is None else value.shape[0]
    if isinstance(value, Dataset):
        return SOME_NUMBER if value.count is None or value.count < 0 else value.count
    listed = items_of(value)
    if listed is not None:
        return len(listed)
    return len(value) if isinstance(value, range) else SOME_NUMBER


def _int(given: Given, named: Named) -> Any:
    value = given[0] if given else 0
    if isinstance(value, (int, float)):
        return int(value)
    if isinstance(value, str) and len(value) < 20:
        try:
            return int(value)
        except ValueError:
            return UNKNOWN
    return SOME_NUMBER


def _float(given: Given, named: Named) -> Any:
    value = given[0] if given else 0.0
    if isinstance(value, (int, float)):
        return float(value)
    try:
        return float(value) if isinstance(value, str) else UNKNOWN
    except ValueError:
        return UNKNOWN


def _listed(make: Callable[[list[Any]], Any]) -> Callable[[Given, Named], Any]:
    def rule(given: Given, named: Named) -> Any:
        if not given:
            return make([])
        if isinstance(given[0], Dataset):
            return given[0]
        found = items_of(given[0])
        return UNKNOWN if found is None else make(found)

    return rule


def _dict(given: Given, named: Named) -> Any:
    first = given[0] if given else Table()
    if isinstance(first, Table):
        made = Table({**first, **named})
        made.known = first.known
        return made
    listed = items_of(first)
    if listed is None or not all(
        isinstance(each, tuple) and len(each) == 2 and isinstance(each[0], (str, int)) for each in listed
    ):
        return UNKNOWN
    return Table({**dict(listed), **named})


def _zip(given: Given, named: Named) -> Any:
    if given and all(isinstance(each, Dataset) for each in given):
        return Dataset(tuple(each.element for each in given), given[0].count)
    listed = [items_of(each) for each in given]
    if any(each is None for each in listed):
        return Dataset(tuple(_sample(each) for each in given), None)
    return Items(zip(*[each for each in listed if each is not None], strict=False))


def _sample(value: Any) -> Any:
    """What each element of something is like."""
    if isinstance(value, Dataset):
        return value.element
    if isinstance(value, Array) and value.shape:
        return Array(value.dtype, value.shape[1:], value.numpy)
    if isinstance(value, range) or (isinstance(value, Method) and value.name == "range"):
        return SOME_NUMBER
    listed = items_of(value)
    return listed[0] if listed and all(each == listed[0] for each in listed) else UNKNOWN


def _enumerate(given: Given, named: Named) -> Any:
    value = given[0] if given else UNKNOWN
    listed = items_of(value)
    if listed is not None:
        start = given[1] if len(given) > 1 else named.get("start", 0)
        return Items(enumerate(listed, start)) if isinstance(start, int) else UNKNOWN
    count = value.count if isinstance(value, Dataset) else None
    return Dataset((SOME_NUMBER, _sample(value)), count)


def _first(given: Given, named: Named) -> Any:
    return given[0] if given else UNKNOWN


def _reversed(given: Given, named: Named) -> Any:
    found = items_of(given[0]) if given else None
    return UNKNOWN if found is None else Items(found[::-1])


def _sorted(given: Given, named: Named) -> Any:
    found = items_of(given[0]) if given else None
    if found is None or named or not (_numbers(found) or all(isinstance(each, str) for each in found)):
        return UNKNOWN
    return Items(sorted(found))


def _extreme(choose: Callable[[Any], Any]) -> Callable[[Given, Named], Any]:
    def rule(given: Given, named: Named) -> Any:
        listed = items_of(given[0]) if len(given) == 1 else given
        if listed and _numbers(listed) and not named:
            return choose(listed)
        return (
            SOME_NUMBER
            if listed and all(_numbers([each]) or each is SOME_NUMBER for each in listed)
            else UNKNOWN
        )

    return rule


def _sum(given: Given, named: Named) -> Any:
    listed = items_of(given[0]) if given else None
    if listed and any(isinstance(each, Array) for each in listed):
        return listed[0]
    return sum(listed) if listed is not None and _numbers(listed) else UNKNOWN


def _round(given: Given, named: Named) -> Any:
    return round(*given) if given and _numbers(given) else UNKNOWN


def _str(given: Given, named: Named) -> Any:
    return str(given[0]) if given and isinstance(given[0], (str, int)) else UNKNOWN


def _bool(given: Given, named: Named) -> Any:
    found = truth(given[0]) if given else False
    return UNKNOWN if found is None else found


def _isinstance(given: Given, named: Named) -> Any:
    if len(given) != 2 or given[0] is UNKNOWN:
        return UNKNOWN
    value, kinds = given[0], given[1] if isinstance(given[1], tuple) else (given[1],)
    answers = [_is_a(value, kind) for kind in kinds]
    return True if True in answers else UNKNOWN if None in answers else False


def _is_a(value: Any, kind: Any) -> bool | None:
    if isinstance(kind, Class):
        return isinstance(value, Instance) and _inherits(value.cls, kind)
    if not isinstance(kind, Name):
        return None
    plain: dict[str, Any] = {
        "int": int,
        "float": float,
        "str": str,
        "tuple": tuple,
        "list": Items,
        "dict": Table,
        "bool": bool,
    }
    if kind.dotted in plain:
        known = (
            isinstance(value, (int, float, str, tuple, Items, Table, Array, Model, Layer, Instance, Dataset))
            or value is None
        )
        return isinstance(value, plain[kind.dotted]) if known else None
    return None


def _inherits(cls: Class, other: Class) -> bool:
    return cls is other or any(_inherits(base, other) for base in cls.bases if isinstance(base, Class))


def _next(given: Given, named: Named) -> Any:
    value = given[0] if given else UNKNOWN
    if isinstance(value, Dataset):
        return value.element
    listed = items_of(value)
    return listed[0] if listed else UNKNOWN


def _math(function: Callable[..., Any]) -> Callable[[Given, Named], Any]:
    def rule(given: Given, named: Named) -> Any:
        if any(each is SOME_NUMBER for each in given):
            return SOME_NUMBER
        try:
            return function(*given) if given and _numbers(given) else UNKNOWN
        except (ValueError, OverflowError, TypeError):
            return UNKNOWN

    return rule


def _prod(given: Given, named: Named) -> Any:
    listed = items_of(given[0]) if given else None
    return math.prod(listed) if listed is not None and _numbers(listed) else UNKNOWN


def _partial(given: Given, named: Named) -> Any:
    return Table({"": "partial", "given": given, "named": named})


def _default(given: Given, named: Named) -> Any:
    """`os.environ.get(name, default)`, `os.getenv`."""
    return given[1] if len(given) > 1 else named.get("default", UNKNOWN)


def _namespace(given: Given, named: Named) -> Any:
    return Table(named)


def _slice(given: Given, named: Named) -> Any:
    return slice(*given) if 0 < len(given) <= 3 else UNKNOWN


FUNCTIONS: Mapping[str, Callable[[Given, Named], Any]] = {
    "range": _range, "len": _len, "int": _int, "float": _float, "dict": _dict, "zip": _zip, "enumerate": _enumerate,
    "list": _listed(Items), "tuple": _listed(tuple), "set": lambda given, named: UNKNOWN, "iter": _first,
    "reversed": _reversed, "sorted": _sorted, "min": _extreme(min), "max": _extreme(max), "sum": _sum, "round": _round,
    "str": _str, "bool": _bool, "isinstance": _isinstance, "next": _next, "abs": _math(abs), "slice": _slice,
    "math.ceil": _math(math.ceil), "math.floor": _math(math.floor), "math.sqrt": _math(math.sqrt),
    "math.log2": _math(math.log2), "math.prod": _prod,
    "os.environ.get": _default, "os.getenv": _default, "types.SimpleNamespace": _namespace, "tqdm.tqdm": _first,
    "tqdm.auto.tqdm": _first, "tqdm.notebook.tqdm": _first, "copy.copy": _first, "copy.deepcopy": _first,
    "itertools.islice": _first, "argparse.ArgumentParser": lambda given, named: Table({"": "parser"}),
    "collections.OrderedDict": _dict, "functools.partial": _partial,
    "absl.flags.FLAGS": _first,
}  # fmt: skip


def is_parser(value: Any) -> bool:
    """Whether a value is an `ArgumentParser`, or what stands for one."""
    return isinstance(value, Table) and value.get("") == "parser"


def parser_method(owner: Table, name: str, given: Given, named: Named) -> Any:
    """`add_argument` remembers defaults, `parse_args` gives them: what a program does without arguments."""
    if name == "add_argument" and given and all(isinstance(each, str) for each in given):
        longest = max(given, key=len)
        key = named.get("dest", longest.lstrip("-").replace("-", "_"))
        default = named.get("default")
        if named.get("action") in ("store_true", "store_false"):
            default = named.get("default", named["action"] == "store_false")
        kind = named.get("type")
        if isinstance(default, str) and isinstance(kind, Name) and kind.dotted in ("int", "float"):
            default = FUNCTIONS[kind.dotted]([default], {})
        owner[key] = UNKNOWN if not longest.startswith("-") and "default" not in named else default
        return None
    if name in ("parse_args", "parse_known_args"):
        found = Table({key: value for key, value in owner.items() if key})
        return (found, Items()) if name == "parse_known_args" else found
    if name in ("add_argument_group", "add_mutually_exclusive_group"):
        return owner
    if name == "set_defaults":
        owner.update(named)
    return None
