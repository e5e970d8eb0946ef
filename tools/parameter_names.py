"""Writes the names of positional parameters of the APIs whose shapes are followed, as TensorFlow and Keras give them.

python tools/parameter_names.py > server/energy_code/static_shapes/parameters.json
"""

from __future__ import annotations

import importlib
import inspect
import json
from typing import Any

from energy_data.catalogue.catalogue import Catalogue
from energy_data.prediction.api_families import FAMILY_OF

WHOLE = (
    "keras.layers.", "keras.ops.", "keras.ops.image.", "keras.activations.", "keras.random.", "keras.utils.",
    "tensorflow.data.Dataset.", "tensorflow.image.", "tensorflow.random.", "tensorflow.signal.", "tensorflow.strings.",
)  # fmt: skip
"""Everything right below these."""
METHODS = (
    "fit",
    "evaluate",
    "predict",
    "compile",
    "train_on_batch",
    "test_on_batch",
    "predict_on_batch",
    "build",
)
MORE = (
    "tensorflow.TensorSpec", "tensorflow.function", "tensorflow.io.decode_image", "tensorflow.io.decode_jpeg",
    "tensorflow.io.decode_png", "tensorflow.random.categorical", "tensorflow.map_fn", "tensorflow.argsort",
    "tensorflow.strided_slice", "tensorflow.keras.preprocessing.sequence.pad_sequences",
)  # fmt: skip


def main() -> None:
    catalogue = Catalogue.load()
    below = {name for name in catalogue.names() if name.rpartition(".")[0] + "." in WHOLE}
    below |= {name for name in catalogue.names() if name.startswith("keras.applications.")}
    names = below | set(FAMILY_OF) | set(MORE) | {f"keras.Model.{name}" for name in METHODS}
    print(
        json.dumps(
            {name: found for name in sorted(names) if (found := parameters(name))}, separators=(",", ":")
        )
    )


def parameters(name: str) -> list[str]:
    first, *rest = name.removesuffix(".__call__").split(".")
    found: Any = importlib.import_module(first)
    try:
        for part in rest:
            found = getattr(found, part)
        given = list(inspect.signature(found).parameters.values())
    except (AttributeError, TypeError, ValueError, ImportError):
        return []
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    listed = [each.name for each in given if each.kind in kinds]
    return listed[1:] if listed[:1] == ["self"] else listed


if __name__ == "__main__":
    main()
