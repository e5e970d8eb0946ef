"""Packages that Keras imports when they happen to be installed, and this program never uses."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence

from energy_code.rule_engine.context import Edit
from energy_measure.tuning.candidate import Candidate, ProgramFile

ORDER = 50
PULLED_IN = ("sklearn", "matplotlib", "pandas", "cv2", "IPython")
_KNOWN = frozenset({"tensorflow", "keras", "numpy", "absl", *sys.stdlib_module_names})
"""Of these it is known that none needs the packages; whoever imports something else may."""

_PULLING = frozenset({"tensorflow", "keras"})


def find(sources: Sequence[ProgramFile]) -> Iterator[Candidate]:
    """Tell Python that they are not there, before the first import; where the program imports nothing that may use them."""
    entry = sources[0] if sources else None
    own = {source.path.stem for source in sources} | {source.path.parent.name for source in sources}
    imported = set().union(*map(_imports, sources))
    if entry is None or imported - _KNOWN - own or not imported & _PULLING or any(map(_draws, sources)):
        return
    first = next(
        (one for one in entry.analysis.tree().root_node.named_children if one.type.startswith("import")), None
    )
    if first is None:
        return
    names = ", ".join(f'"{name}"' for name in PULLED_IN)
    text = f"import sys\n\nsys.modules.update(dict.fromkeys([{names}]))  # never used here\n"
    yield Candidate(
        "optional-imports",
        "leave out packages that nothing uses",
        entry.name,
        first.start_point[0] + 1,
        {entry.name: [Edit(first.start_byte, first.start_byte, text)]},
        needs=PULLED_IN,
    )


def _imports(source: ProgramFile) -> set[str]:
    """The packages that a file imports; something unknown where it cannot be known."""
    try:
        tree = ast.parse(source.text)
    except (SyntaxError, ValueError, RecursionError):
        return {"?"}
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add((node.module or "").partition(".")[0])
    return found


def _draws(source: ProgramFile) -> bool:
    """Whether it asks Keras for what needs them, or imports by name."""
    return any(word in source.text for word in (b"plot_model", b"to_dot", b"import_module", b"__import__"))
