"""Runs a program with a seed from outside and writes down what its training gave (Python 3.8 to 3.13).

Started as `PYTHON seeded_run.py SEED FILE ORIGINAL REFUSED SCRIPT [ARGUMENTS]`, with the standard library alone; SEED
`-` sets none. Below the folder ORIGINAL nothing is written; what was to be is named in the file REFUSED.
Seeds are set as soon as a library that draws has been imported, so before the program draws. Where the program sets a seed
itself, seed 0 leaves it as it is and any other shifts it: over several seeds the program's own scatter shows. Numbers that
`fit` and `evaluate` give go to FILE.
"""

from __future__ import annotations

import contextlib
import os
import random
import runpy
import sys
from typing import TYPE_CHECKING, Any, Callable, Dict, Optional  # noqa: UP035 - Python 3.8

if TYPE_CHECKING:
    from energy_measure.injected.import_hook import AfterImport
    from energy_measure.injected.original import protect
    from energy_measure.injected.phase_marks import provide_span
else:
    from import_hook import AfterImport  # beside this file, which is started by its path
    from original import protect
    from phase_marks import provide_span

APART = 1009
"""Between a program's own seed and its shifted ones: programs like to count seeds up."""


def numbers_of(value: Any) -> list[Any]:
    """What a call of `fit` or `evaluate` gave, with names: the last of each series, or the values."""
    if hasattr(value, "history"):
        return [(name, series[-1]) for name, series in value.history.items() if series]
    if isinstance(value, dict):
        return list(value.items())
    values = list(value) if isinstance(value, (list, tuple)) else [value]
    return [
        ("evaluated loss" if not place else f"evaluated {place}", one) for place, one in enumerate(values)
    ]


def watched(method: Any, noted: str) -> Any:
    """A method that also writes down the numbers it gives."""

    def call(*arguments: Any, **keywords: Any) -> Any:
        value = method(*arguments, **keywords)
        # What is no number is compared as it is printed.
        with contextlib.suppress(TypeError, ValueError, OSError), open(noted, "a", encoding="utf-8") as file:
            file.writelines(f"{float(number)!r} {name}\n" for name, number in numbers_of(value))
        return value

    return call


def shifted(set_seed: Any, seed: int) -> Any:
    """A function that sets a seed, with the program's own seed moved away."""

    def call(value: Any = None, *arguments: Any, **keywords: Any) -> Any:
        moved = value + APART * seed if isinstance(value, int) else value
        return set_seed(moved, *arguments, **keywords)

    return call


def hooks(seed: Optional[int], noted: str) -> Dict[str, Callable[[Any], None]]:  # noqa: UP006, UP045
    """What to do after which import."""

    def numpy(module: Any) -> None:
        if seed is None:
            return
        module.random.seed(seed)
        fresh = module.random.default_rng
        module.random.default_rng = lambda given=None: fresh(seed if given is None else given)
        if seed:
            module.random.seed = shifted(module.random.seed, seed)

    def tensorflow(module: Any) -> None:
        if seed is None:
            return
        module.random.set_seed(seed)
        if seed:
            module.random.set_seed = shifted(module.random.set_seed, seed)

    def keras(module: Any) -> None:
        module.Model.fit = watched(module.Model.fit, noted)
        module.Model.evaluate = watched(module.Model.evaluate, noted)
        if seed is not None and not own_seed:
            module.utils.set_random_seed(seed)

    own_seed = []
    if seed is not None:
        random.seed(seed)
        plain = random.seed

        def noticed(value: Any = None, *arguments: Any) -> None:
            own_seed.append(value)
            plain(value + APART * seed if seed and isinstance(value, int) else value, *arguments)

        random.seed = noticed  # type: ignore[assignment]
    return {"numpy": numpy, "tensorflow": tensorflow, "keras": keras, "tf_keras": keras}


def main() -> None:
    """Set the program up as Python itself would, and run it."""
    seed, noted, original, refused, script = sys.argv[1:6]
    sys.argv = sys.argv[5:]
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    sys.meta_path.insert(0, AfterImport(hooks(None if seed == "-" else int(seed), noted)))
    provide_span()
    protect(original, os.path.dirname(refused), refused)
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main()
