"""Packages that Keras imports when they happen to be installed, and this program never uses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from energy_code.rule_engine.context import Edit
from energy_measure.tuning.candidate import Candidate, Source

ORDER = 50
PULLED_IN = ("sklearn", "matplotlib", "pandas", "cv2", "IPython")


def find(sources: Sequence[Source]) -> Iterator[Candidate]:
    """Tell Python that they are not there, before the first import; where no file of the program names them."""
    entry = sources[0] if sources else None
    if entry is None or any(re.search(rb"\b(plot_model|to_dot|plt)\b", source.text) for source in sources):
        return
    unused = [
        name
        for name in PULLED_IN
        if not any(re.search(rb"(?<![\w.])" + name.encode() + rb"(?!\w)", one.text) for one in sources)
    ]
    first = next(
        (one for one in entry.analysis.tree.root_node.named_children if one.type.startswith("import")), None
    )
    if not unused or first is None:
        return
    names = ", ".join(f'"{name}"' for name in unused)
    text = f"import sys\n\nsys.modules.update(dict.fromkeys([{names}]))  # never used here\n"
    yield Candidate(
        "optional-imports",
        "leave out packages that nothing uses",
        entry.name,
        first.start_point[0] + 1,
        {entry.name: [Edit(first.start_byte, first.start_byte, text)]},
    )
