"""What a docstring's "Returns:" section says, where it is plain."""

from __future__ import annotations

import re


def words(text: str) -> list[str]:
    """A list that reads better as a paragraph."""
    return text.split()


TENSOR = "tensorflow.Tensor"
KERAS_TENSORS = re.compile(r"keras\.(ops|activations|losses|metrics|random|backend)(\.\w+)*\.[a-z]\w*")
NO_TENSOR = re.compile(
    r"\.(get|serialize|deserialize|is_\w+|dtype|shape|print\w*|function|get_\w+|set_\w+|eval|int_shape|count_params|ndim"
    r"|batch_[gs]et_value|learning_phase|rnn|gradients|name_scope|result_type|backend|epsilon|floatx|image_data_format"
    r"|random_(normal|uniform)_variable|variable|placeholder|clear_session|standardize_dtype|custom_gradient)$"
)
RESULTS_BY_NAME = {
    r"keras\..*\.[A-Z]\w*\.call": TENSOR,
    r"keras\..*[A-Z]\w*\.get_config": "dict",
    r"keras\..*[A-Z]\w*\.from_config": "self",
    r"keras\..*[A-Z]\w*\.compute_output_shape": "tuple",
    r"keras\.backend\.(random_(normal|uniform)_)?variable": "keras.Variable",
    r"keras\.backend\.eval": "numpy.ndarray",
    r".*\.[A-Z]\w*\.FromString": "self",
    r"tensorflow\.RaggedTensor\.(from_\w+|with_\w+|merge_dims)": "tensorflow.RaggedTensor",
    r"keras\.backend\.get_value": "numpy.ndarray",
    r"keras\.backend\.gradients": f"list[{TENSOR}]",
}
RESULTS = (
    (re.compile(r"\b(list|tuple|sequence|nested|dict)\b", re.I), None),
    (re.compile(r"\bRaggedTensor\b"), "tensorflow.RaggedTensor"),
    (re.compile(r"\bSparseTensor\b"), "tensorflow.sparse.SparseTensor"),
    (re.compile(r"\bDataset\b"), "tensorflow.data.Dataset"),
    (re.compile(r"\bOperation\b"), "tensorflow.Operation"),
    (re.compile(r"(model instance|`?Model`? instance|keras model)", re.I), "keras.Model"),
    (re.compile(r"\b[Tt]ensors?\b"), TENSOR),
)
COMPOSITE = re.compile(r"\.(ragged|sparse|sets|strings)|RaggedTensor|SparseTensor")
"""Where a result may be ragged or sparse; elsewhere "`Tensor` or `SparseTensor`" depends on the argument."""
NUMERIC = re.compile(
    r"tensorflow\.(compat\.v1\.)?(image|math|linalg|nn|signal|dtypes|bitwise|quantization)\.[a-z]\w*"
)
SEVERAL = re.compile(r"A tuple of `Tensor` objects \(([\w, ]+)\)")


def of_document(name: str, document: str) -> str | None:
    """The class a function's documentation promises, or None."""
    if KERAS_TENSORS.fullmatch(name) and not NO_TENSOR.search(name):
        return TENSOR
    for pattern, result in RESULTS_BY_NAME.items():
        if re.fullmatch(pattern, name):
            return result
    if re.fullmatch(r"tensorflow\.experimental\.numpy(\.random)?\.[a-z]\w*", name):
        return TENSOR
    if re.fullmatch(r"keras\.applications\.(\w+\.)?[A-Z]\w+", name):
        return "keras.Model"
    if several := SEVERAL.search(document):
        return f"tuple[{', '.join([TENSOR] * len(several.group(1).split(',')))}]"
    promised = _promised(name, document)
    return TENSOR if promised is None and NUMERIC.fullmatch(name) and "tuple" not in document else promised


def _promised(name: str, document: str) -> str | None:
    """The kind of result that the first line of the section names first."""
    found = re.search(r"^(?:Returns|Yields):\s*\n?(.*)", document, re.M)
    if found is None:
        return None
    first = found.group(1).strip()
    if not first and (rest := document[found.end() :].strip()):
        first = rest.splitlines()[0]
    matches = [(match.start(), result) for pattern, result in RESULTS if (match := pattern.search(first))]
    result = min(matches, key=lambda match: match[0])[1] if matches else None
    if result in ("tensorflow.RaggedTensor", "tensorflow.sparse.SparseTensor") and not COMPOSITE.search(name):
        return TENSOR
    if result == "tensorflow.data.Dataset" and name.startswith("tensorflow.compat.v1.data."):
        return "tensorflow.compat.v1.data.Dataset"
    return result
