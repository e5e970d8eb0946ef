"""Work done once up front: what a pipeline computes of each element, kept from the first epoch on."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from energy_code.rule_engine.context import Edit
from energy_measure.tuning.candidate import Candidate, ProgramFile
from energy_measure.tuning.python_text import PythonText

ORDER = 16
_CHANCE = re.compile(
    rb"random|shuffle|py_function|numpy_function|augment|[Gg]enerator|dropout", re.IGNORECASE
)
_SAME_EACH_TIME = frozenset(
    {"map", "batch", "take", "skip", "enumerate", "zip", "from_tensor_slices", "from_tensors", "range"}
)


def find(sources: Sequence[ProgramFile]) -> Iterator[Candidate]:
    """`cache()` behind the last map without chance of each pipeline that has none, before anything is shuffled."""
    for source in sources:
        text = PythonText.of(source)
        if text is None or b".cache(" in source.text:
            continue
        places: dict[int, ast.Call] = {}
        for call in text.calls("map"):
            links = text.chain(call)
            if not text.is_dataset(call) or not {link.name for link in links} <= _SAME_EACH_TIME:
                continue
            maps = [link.call for link in links if link.name == "map"]
            if any(_has_chance(source, text, one) for one in maps):
                continue
            for earlier in maps[1:]:
                places.pop(text.end(earlier), None)
            places[text.end(call)] = call
        if places:
            edits = [Edit(at, at, ".cache()") for at in sorted(places)]
            line = places[min(places)].lineno
            yield Candidate(
                "cache",
                "keep in memory what each epoch computes again",
                source.name,
                line,
                {source.name: edits},
            )


def _has_chance(source: ProgramFile, text: PythonText, call: ast.Call) -> bool:
    """Whether the function of a map may give something else the next time, or is not of this file."""
    function = call.args[0] if call.args else None
    if isinstance(function, ast.Lambda):
        bodies: list[ast.AST] = [function]
    elif isinstance(function, ast.Name):
        bodies = list(text.functions(function.id))
    else:
        bodies = []
    seen: set[str] = set()
    waiting = list(bodies)
    while waiting:
        body = waiting.pop()
        if not isinstance(body, (ast.expr, ast.stmt)):
            return True
        if _CHANCE.search(source.text[text.start(body) : text.end(body)]):
            return True
        names = {node.id for node in ast.walk(body) if isinstance(node, ast.Name)} - seen
        seen |= names
        waiting += [one for name in names for one in text.functions(name)]
    return not bodies
