"""What a docstring's "Returns:" section says, where it is plain."""

from __future__ import annotations

import re

TENSOR = "tensorflow.Tensor"
KERAS_TENSORS = re.compile(r"keras\.(ops|activations|losses|metrics|random)(\.\w+)*\.[a-z]\w*")
RESULTS = (
    (re.compile(r"(list|tuple|sequence|nested)\b", re.I), None),
    (re.compile(r"`?(tf\.)?RaggedTensor`?"), "tensorflow.RaggedTensor"),
    (re.compile(r"`?(tf\.sparse\.|tf\.)?SparseTensor`?"), "tensorflow.sparse.SparseTensor"),
    (re.compile(r"`?(tf\.data\.)?Dataset`?"), "tensorflow.data.Dataset"),
    (re.compile(r"`?(tf\.)?Operation`?"), "tensorflow.Operation"),
    (re.compile(r"(model instance|`?Model`? instance|keras model)", re.I), "keras.Model"),
    (re.compile(r"`?\b(tf\.)?[Tt]ensors?\b`?"), TENSOR),
)


def of_document(name: str, document: str) -> str | None:
    """The class a function's documentation promises, or None."""
    if KERAS_TENSORS.fullmatch(name) and not re.search(
        r"\.(get|serialize|deserialize|is_\w+|dtype|shape|print\w*)$", name
    ):
        return TENSOR
    if re.fullmatch(r"tensorflow\.experimental\.numpy(\.random)?\.[a-z]\w*", name):
        return TENSOR
    if re.fullmatch(r"keras\.applications\.(\w+\.)?[A-Z]\w+", name):
        return "keras.Model"
    found = re.search(r"^(?:Returns|Yields):\s*\n?(.*)", document, re.M)
    if found is None:
        return None
    first = found.group(1).strip()
    if not first and (rest := document[found.end() :].strip()):
        first = rest.splitlines()[0]
    return next((result for pattern, result in RESULTS if pattern.search(first)), None)
