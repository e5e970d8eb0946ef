"""A generator that hands out rows of arrays in memory: `from_tensor_slices` does so without Python."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from energy_code.rule_engine.context import Edit
from energy_measure.tuning.candidate import Candidate, ProgramFile
from energy_measure.tuning.python_text import DATASET, PythonText

ORDER = 12


def find(sources: Sequence[ProgramFile]) -> Iterator[Candidate]:
    """`from_generator(rows, …)` where `rows` is one loop over arrays that yields what it goes through."""
    for source in sources:
        text = PythonText.of(source)
        edits, line = [], 0
        for call in text.calls("from_generator") if text is not None else ():
            assert text is not None
            assert isinstance(call.func, ast.Attribute)
            if text.program.dotted(call.func) != f"{DATASET}.from_generator" or not call.args:
                continue
            arrays = _arrays(text, call.args[0])
            if arrays:
                given = ", ".join(arrays)
                written = (
                    f".from_tensor_slices(({given}))" if len(arrays) > 1 else f".from_tensor_slices({given})"
                )
                edits.append(Edit(text.end(call.func.value), text.end(call), written))
                line = line or call.lineno
        if edits:
            title = "cut the arrays with `from_tensor_slices`, not with a generator"
            yield Candidate("from-generator", title, source.name, line, {source.name: edits})


def _arrays(text: PythonText, function: ast.expr) -> list[str]:
    """The names whose rows a generator of the file hands out as they are."""
    defined = text.functions(function.id) if isinstance(function, ast.Name) else []
    if len(defined) != 1 or not isinstance(defined[0], ast.FunctionDef) or defined[0].args.args:
        return []
    body = [
        one
        for one in defined[0].body
        if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))
    ]
    loop = body[0] if len(body) == 1 else None
    if not isinstance(loop, ast.For) or len(loop.body) != 1 or not isinstance(loop.body[0], ast.Expr):
        return []
    given = loop.body[0].value
    if (
        not isinstance(given, ast.Yield)
        or given.value is None
        or ast.dump(_loaded(loop.target)) != ast.dump(given.value)
    ):
        return []
    through = [loop.iter]
    if (
        isinstance(loop.iter, ast.Call)
        and isinstance(loop.iter.func, ast.Name)
        and loop.iter.func.id == "zip"
    ):
        through = loop.iter.args
    names = [one.id for one in through if isinstance(one, ast.Name)]
    return names if len(names) == len(through) else []


def _loaded(target: ast.expr) -> ast.expr:
    """A target as it would be written to read it."""
    if isinstance(target, ast.Tuple):
        return ast.Tuple([_loaded(one) for one in target.elts], ast.Load())
    return ast.Name(target.id, ast.Load()) if isinstance(target, ast.Name) else target
