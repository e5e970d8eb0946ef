"""A batch that divides the samples: a last, smaller batch is traced and run by itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from energy_code.rule_engine.context import Edit
from energy_code.rule_engine.queries.program import FileNames
from energy_measure.tuning.candidate import Candidate, ProgramFile
from energy_measure.tuning.python_text import PythonText

ORDER = 62
DEFAULT = 32
SMALLEST, LARGEST = 0.7, 1.5
"""Of the batch that is written: others are another training."""
_SHAPED = (
    "zeros",
    "ones",
    "full",
    "empty",
    "normal",
    "uniform",
    "random",
    "random_sample",
    "standard_normal",
)
_COUNTED = ("rand", "randn", "arange", "linspace")
_SIZED = ("randint", "choice", "integers", "normal", "uniform", "permutation", "binomial", "poisson")
_KNOWN = {
    "mnist": 60_000,
    "fashion_mnist": 60_000,
    "cifar10": 50_000,
    "cifar100": 50_000,
    "imdb": 25_000,
    "reuters": 8_982,
    "boston_housing": 404,
    "california_housing": 16_512,
}
"""Training samples that `load_data` gives by default."""
_SAME_ROWS = ("astype", "reshape", "copy", "numpy")


def find(sources: Sequence[ProgramFile]) -> Iterator[Candidate]:
    """The nearest such batch for a `fit` whose samples can be counted in the text."""
    for source in sources:
        text = PythonText.of(source)
        for call in text.calls("fit") if text is not None else ():
            assert text is not None
            edit = _edit(text, call)
            if edit is not None:
                title = f"a batch that divides the samples: {edit.text.rpartition('=')[2]}"
                edits = {source.name: [edit]}
                yield Candidate("batch-divides", title, source.name, call.lineno, edits, changes_results=True)
                break


def _edit(text: PythonText, call: ast.Call) -> Edit | None:
    keywords = {one.arg: one.value for one in call.keywords}
    data = call.args[0] if call.args else keywords.get("x")
    if (
        data is None
        or None in keywords
        or "steps_per_epoch" in keywords
        or len(call.args) < 2 > ("y" in keywords) + 1
    ):
        return None
    samples = _rows(text.program, data) or _loaded_rows(text, data)
    if "validation_split" in keywords and samples is not None:
        part = keywords["validation_split"]
        known = isinstance(part, ast.Constant) and isinstance(part.value, float)
        samples = int(samples * (1.0 - part.value)) if known else None  # type: ignore[attr-defined]
    written = keywords.get("batch_size")
    size = written.value if isinstance(written, ast.Constant) else DEFAULT if written is None else None
    if samples is None or not isinstance(size, int) or size < 2 or samples % size == 0:
        return None
    fitting = [
        one for one in range(2, int(LARGEST * size) + 1) if samples % one == 0 and one >= SMALLEST * size
    ]
    if not fitting:
        return None
    best = str(min(fitting, key=lambda one: (abs(one - size), -one)))
    if written is not None:
        return Edit(text.start(written), text.end(written), best)
    last = max([*call.args, *(one.value for one in call.keywords)], key=text.end)
    return Edit(text.end(last), text.end(last), f", batch_size={best}")


def _rows(program: FileNames, node: ast.expr | None, depth: int = 5) -> int | None:
    """The first axis of an array, where the text says it."""
    if node is None or not depth:
        return None
    if isinstance(node, ast.Name):
        values = program.assigned.get(node.id, [])
        found = {_rows(program, value, depth - 1) for value in values if not _uses(value, node.id)}
        return found.pop() if len(found) == 1 else None
    if isinstance(node, ast.BinOp):
        return _rows(program, node.left, depth - 1)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        end = (
            _integer(program, node.slice.upper)
            if node.slice.lower is None and node.slice.step is None
            else None
        )
        return end if end is not None and end > 0 else None
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    name = node.func.attr
    if name in _SAME_ROWS and not (name == "reshape" and not _keeps_rows(node)):
        return _rows(program, node.func.value, depth - 1)
    size = next((one.value for one in node.keywords if one.arg in ("size", "shape")), None)
    if size is None and name in _COUNTED and node.args:
        return _integer(program, node.args[0])
    if size is None and name in _SIZED and len(node.args) == 3:
        size = node.args[2]
    if size is None and name in _SHAPED and node.args:
        size = node.args[0]
    if isinstance(size, (ast.Tuple, ast.List)) and size.elts:
        size = size.elts[0]
    return _integer(program, size)


def _uses(value: ast.expr | None, name: str) -> bool:
    """`x = x.astype(…)`: as many rows as before."""
    return value is not None and any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(value))


def _keeps_rows(call: ast.Call) -> bool:
    """`reshape(len(x), …)` or `reshape(-1, n)` may join rows: only the former is sure."""
    first = call.args[0] if call.args else None
    return isinstance(first, ast.Call)


def _integer(program: FileNames, node: ast.expr | None) -> int | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, int) and not isinstance(node.value, bool):
        return node.value
    values = program.assigned.get(node.id, []) if isinstance(node, ast.Name) else []
    return _integer(program, values[0]) if len(values) == 1 else None


def _loaded_rows(text: PythonText, data: ast.expr) -> int | None:
    """`(x_train, y_train), … = keras.datasets.mnist.load_data()`."""
    name = data.id if isinstance(data, ast.Name) else ""
    for node in ast.walk(text.tree):
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call) or node.value.args:
            continue
        first = (
            node.targets[0].elts[0]
            if isinstance(node.targets[0], ast.Tuple) and node.targets[0].elts
            else None
        )
        names = (
            [one.id for one in first.elts if isinstance(one, ast.Name)]
            if isinstance(first, ast.Tuple)
            else []
        )
        called = text.program.dotted(node.value.func).split(".")
        if name in names and called[-1] == "load_data" and not node.value.keywords:
            return _KNOWN.get(called[-2]) if len(called) > 1 else None
    return None
