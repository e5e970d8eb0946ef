"""One name for an API, however a user, a file or a study spells it."""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec


@lru_cache(maxsize=8192)
def canonical(name: str) -> str:
    """The catalogue's name of an API; a name it does not know is kept, without its last `()`."""
    name = name.strip()
    if find_spec("energy_data.catalogue") is None:
        return _plain(name)
    from energy_data.catalogue import Catalogue

    return Catalogue.load().canonical(name) or name.removesuffix("()")


def _plain(name: str) -> str:
    name = name.removesuffix("()")
    if name.startswith("tf."):
        name = "tensorflow." + name[3:]
    return name.removeprefix("tensorflow.") if name.startswith("tensorflow.keras.") else name
