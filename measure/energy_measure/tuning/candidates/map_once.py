"""Work done once up front: a function of single elements applied to the arrays that a dataset is cut from."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from energy_code.rule_engine.context import Edit, RuleContext
from energy_code.rule_engine.file_context import FileContext
from energy_code.rule_engine.queries.lambdas import is_elementwise
from energy_measure.tuning.candidate import Candidate, ProgramFile
from energy_measure.tuning.python_text import PythonText

ORDER = 14


def find(sources: Sequence[ProgramFile]) -> Iterator[Candidate]:
    """`from_tensor_slices(x).map(f)` → `from_tensor_slices(f(x))`, where `f` does the same to each number."""
    for source in sources:
        text = PythonText.of(source)
        edits, line = [], 0
        for call in text.calls("map") if text is not None else ():
            assert text is not None
            found = _moved(source, text, call)
            if found:
                edits += found
                line = line or call.lineno
        if edits:
            title = "scale and cast the arrays once, not in every epoch"
            yield Candidate("map-once", title, source.name, line, {source.name: edits})


def _moved(source: ProgramFile, text: PythonText, call: ast.Call) -> list[Edit]:
    """Edits that take the function out of the pipeline; none where something else comes before it."""
    links = text.chain(call)
    assert isinstance(call.func, ast.Attribute)
    if len(links) != 2 or links[1].name != "from_tensor_slices" or not text.is_dataset(call) or not call.args:
        return []
    function, slices = call.args[0], links[1].call
    if len(slices.args) != 1 or slices.keywords or not _is_elementwise(source, text, function):
        return []
    data = slices.args[0]
    given = source.text[text.start(data) : text.end(data)].decode()
    if isinstance(data, ast.Tuple):
        given = ", ".join(source.text[text.start(one) : text.end(one)].decode() for one in data.elts)
    named = source.text[text.start(function) : text.end(function)].decode()
    written = f"({named})({given})" if isinstance(function, ast.Lambda) else f"{named}({given})"
    first, last = text.start(data), text.end(data)
    if isinstance(data, ast.Tuple) and source.text[first : first + 1] != b"(":
        return []
    return [Edit(first, last, written), _removed(source, text, call)]


def _removed(source: ProgramFile, text: PythonText, call: ast.Call) -> Edit:
    """The link out of its chain, or all of `ds = ds.map(f)` where that has a line of its own."""
    assert isinstance(call.func, ast.Attribute)
    start = call.func.value
    for node in ast.walk(text.tree):
        if not isinstance(node, ast.Assign) or node.value is not call or not isinstance(start, ast.Name):
            continue
        begin = text.starts[node.lineno - 1]
        end = text.starts[node.end_lineno or node.lineno]
        alone = (
            not source.text[begin : text.start(node)].strip()
            and not source.text[text.end(node) : end].strip()
        )
        if alone and [one.id for one in node.targets if isinstance(one, ast.Name)] == [start.id]:
            return Edit(begin, min(end, len(source.text)), "")
    return Edit(text.end(start), text.end(call), "")


def _is_elementwise(source: ProgramFile, text: PythonText, function: ast.expr) -> bool:
    root = source.analysis.root_at(text.start(function))
    node = root.descendant_for_byte_range(text.start(function), text.end(function))
    if node is None:
        return False
    return is_elementwise(RuleContext(source.analysis, node, None, FileContext(source.text)), node)
