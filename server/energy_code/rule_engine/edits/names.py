"""Names as the file itself would write them, and the imports that are missing for that."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from energy_code.rule_engine.context import Edit
from energy_code.rule_engine.file_context import alias_in
from energy_code.rule_engine.patterns.pattern import canonical

if TYPE_CHECKING:
    from tree_sitter import Node

    from energy_code.analysis.analysis import Analysis

_DOTTED = re.compile(r"(?<![\w.$])(tf|keras|np)\.[A-Za-z_][\w.]*")
_MODULES = {"tf": "tensorflow", "keras": "keras", "np": "numpy"}


class Spelling:
    """Spells `tf.…`, `keras.…`, `np.…` with the file's aliases; remembers what must be imported."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._imports: dict[str, str] = {}
        """Module → name it gets."""

    def spell(self, template: str) -> str:
        """The template in the file's own words."""
        return _DOTTED.sub(lambda found: self.name(found.group(0)), template)

    def name(self, dotted: str) -> str:
        """One name (`tf.square`) as this file would write it."""
        short, _, rest = dotted.partition(".")
        alias = self._alias(_MODULES[short])
        if alias is not None:
            return f"{alias}.{rest}"
        if short != "np":
            direct = self._analysis.spelling(_canonical(dotted))
            if direct is not None:
                return direct
        return f"{self._import(short)}.{rest}"

    def _alias(self, module: str) -> str | None:
        if module == "numpy":
            return alias_in(self._source, module, everywhere=False)
        return self._analysis.spelling(module)

    @property
    def _source(self) -> bytes:
        return self._analysis.source

    def _import(self, short: str) -> str:
        module = _MODULES[short]
        taken = re.search(rb"(?<![\w.])" + short.encode() + rb"(?!\w)", self._source) is not None
        self._imports[module] = module if taken else short
        return self._imports[module]

    def import_edits(self) -> list[Edit]:
        """Insert the missing imports after the last import at the top of the file."""
        if not self._imports:
            return []
        lines = [
            f"import {module}" if module == name else f"import {module} as {name}"
            for module, name in self._imports.items()
        ]
        at, after_statement = _import_place(self._analysis.tree().root_node)
        newline = "\r\n" if b"\r\n" in self._source else "\n"
        text = newline.join(lines)
        return [Edit(at, at, newline + text if after_statement else text + newline)]


def _import_place(module: Node) -> tuple[int, bool]:
    """Byte offset, and whether it lies at the end of a statement (else at the start of the file)."""
    end = 0
    for statement in module.named_children:
        if statement.type in ("import_statement", "import_from_statement", "future_import_statement") or (
            statement.type == "expression_statement"
            and statement.named_children[0].type == "string"
            and not end
        ):
            end = statement.end_byte
        elif statement.type != "comment":
            break
    if end:
        return end, True
    comments = [c for c in module.named_children if c.type == "comment" and c.start_point[0] < 2]
    return (comments[-1].end_byte, True) if comments and comments[0].start_point[0] == 0 else (0, False)


def _canonical(dotted: str) -> str:
    try:
        return canonical(dotted)
    except ValueError:
        return _MODULES[dotted.partition(".")[0]] + "." + dotted.partition(".")[2]
