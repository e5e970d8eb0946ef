"""What `tune` tries, one file each: a new file with a function `find` in this folder is a new kind of candidate.

`ORDER` says what is tried first: what paid most in ordinary programs comes first, what changes results and what rarely
pays comes last.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence

from energy_measure.tuning.candidate import Candidate, ProgramFile


def find_all(sources: Sequence[ProgramFile]) -> list[Candidate]:
    """Every candidate for a program, the most promising kinds first."""
    modules = [importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__)]
    found: list[Candidate] = []
    for module in sorted(modules, key=lambda module: module.ORDER):
        known = {(one.name, one.file) for one in found}
        made = [one.edits for one in found if one.edits]  # a knob may be what a rule's fix does
        found += [
            one
            for one in module.find(sources)
            if (one.name, one.file) not in known and (not one.edits or one.edits not in made)
        ]
    return found
