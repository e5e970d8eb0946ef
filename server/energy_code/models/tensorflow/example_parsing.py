"""What parsing records gives: by the name of each feature, the kind of tensor that its description asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from energy_code.interpreter.domain.values import TENSOR_VALUE, UNKNOWN, ApiInstance, Mapping, Sequence, Value

if TYPE_CHECKING:
    from energy_code.interpreter.frame import Frame
    from energy_code.models.tensorflow.api_call import ApiCall

SPARSE = ApiInstance("tensorflow.sparse.SparseTensor")
RAGGED = ApiInstance("tensorflow.RaggedTensor")
KINDS = {
    "tensorflow.io.VarLenFeature": SPARSE,
    "tensorflow.io.SparseFeature": SPARSE,
    "tensorflow.io.RaggedFeature": RAGGED,
}


def parsed(described: Value) -> Value:
    """What comes of features that are described by name."""
    if type(described) is not Mapping:
        return Mapping((), TENSOR_VALUE)
    kinds = [(key, KINDS.get(getattr(item, "cls", ""), TENSOR_VALUE)) for key, item in described.items]
    return Mapping(tuple(kinds), TENSOR_VALUE)


def parse_example(frame: Frame, call: ApiCall) -> Value:
    """`tf.io.parse_example(records, features)`."""
    return parsed(call.arguments.get(1, "features") or UNKNOWN)


def parse_sequence_example(frame: Frame, call: ApiCall) -> Value:
    """`tf.io.parse_sequence_example(records, context_features, sequence_features)`; of many, their lengths too."""
    context = parsed(call.arguments.get(1, "context_features") or UNKNOWN)
    sequence = parsed(call.arguments.get(2, "sequence_features") or UNKNOWN)
    lengths = () if call.api.endswith("single_sequence_example") else (Mapping((), TENSOR_VALUE),)
    return Sequence("tuple", (context, sequence, *lengths))
