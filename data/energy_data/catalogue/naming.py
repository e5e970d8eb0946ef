"""One name for an API, however a user, a file or a study spells it."""

from __future__ import annotations

from functools import lru_cache

from energy_data.catalogue.catalogue import Catalogue


@lru_cache(maxsize=8192)
def canonical(name: str) -> str:
    """The catalogue's name of an API; a name it does not know is kept, without its last `()`.

    A text with arguments in it, such as a study's `tensorflow.data.Dataset.range(9).batch()`, stands for a
    whole expression. What it costs belongs to none of its calls alone, so it stays a name of its own.
    """
    bare = name.strip().removesuffix("()")
    if "(" in bare:
        return bare
    return Catalogue.load().canonical(bare) or bare
