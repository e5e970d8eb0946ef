"""Which APIs are free of side effects and of hidden state, so that a measurement may replay them."""

from __future__ import annotations

import re

from catalogue_returns import words

PURE_MODULES = re.compile(
    r"tensorflow\.(math|linalg|nn|strings|bitwise|signal|sparse|ragged|image|sets|dtypes|experimental\.numpy|nest"
    r"|audio|quantization|autodiff|compat\.v1\.(math|nn|linalg|strings|sparse|image))(\.[a-z_]\w*)*\.[a-z]\w*"
    r"|keras\.(ops|activations|losses|metrics|backend|tree)(\.[a-z_]\w*)*\.[a-z]\w*"
    r"|tensorflow(\.compat\.v1)?\.[a-z]\w*|tensorflow\.io\.(parse|decode|encode|serialize)\w*"
    r"|tensorflow\.random\.stateless\w*|tensorflow\.random\.experimental\.stateless\w*"
    r"|keras\.utils\.(to_categorical|normalize|img_to_array|array_to_img|pad_sequences)"
    r"|keras\.applications\.\w+\.(preprocess_input|decode_predictions)"
)
IMPURE = re.compile(
    r"(^|\.)(random_(?!.*stateless)|rand[ni]?t?$|dropout|print|py_func|numpy_func|eager_py|function$|custom_grad|init_scope"
    r"|assert|Assert|assign|scatter_(update|add|sub|div|mul|min|max|nd_update|nd_add|nd_sub)$|get_variable|variable|Variable"
    r"|placeholder|get_logger|load_|device|name_scope|control_dep|map_fn|vectorized_map|scan$|fold[lr]$|while_loop|cond$"
    r"|case$|switch_case|map_structure|set_|seed|enable_|disable_|get_default|reset_|clear_|get_uid|get$|deserialize"
    r"|save|restore|read_file|write_file|matching_files|queue|batch_join|get_session|get_collection|add_to_|global_"
    r"|local_|trainable_|report_|initialize|grad_pass|recompute|register|stop_recording|custom_|count_up|summary|import_"
    r"|no_regul|op_scope|make_|model_var|moving_|report|shuffle|experimental_enable|batch_norm$|fractional|ctc_beam"
    r"|sampled_softmax|nce_loss|candidate|all_candidate|log_uniform|learned_unigram|fixed_unigram|compute_accidental"
    r"|sufficient_|rnn|raw_rnn|vectorize|associative_scan|fori_loop|^map$|\.map$|call_|standardize|in_train_phase"
    r"|gradients|hessians|stateful|confusion_acc|switch|vectorize|apply_along|apply_over|is_gpu|learning_phase"
    r"|epsilon|floatx|image_data_format|backend$|config)"
)
PURE_CLASSES = set(
    words("""tensorflow.TensorShape tensorflow.TensorSpec tensorflow.RaggedTensorSpec
    tensorflow.SparseTensorSpec
    tensorflow.sparse.SparseTensor tensorflow.IndexedSlices tensorflow.dtypes.DType
    tensorflow.io.FixedLenFeature
    tensorflow.io.VarLenFeature tensorflow.io.FixedLenSequenceFeature tensorflow.io.RaggedFeature
    tensorflow.io.SparseFeature tensorflow.train.Example tensorflow.train.Feature tensorflow.train.Features
    tensorflow.train.Int64List tensorflow.train.FloatList tensorflow.train.BytesList""")
)
PURE_RECEIVERS = {
    "tensorflow.Tensor": re.compile(
        r"(?!set_shape|backing_device|consumers|eval$|_)\w+|__(?!init|setattr)\w+__"
    ),
    "tensorflow.RaggedTensor": re.compile(r"\w+"),
    "tensorflow.sparse.SparseTensor": re.compile(r"(?!eval$)\w+"),
    "tensorflow.TensorShape": re.compile(r"\w+"),
    "tensorflow.Variable": re.compile(r"numpy|value|read_value|get_shape|shape|dtype|__(?!init|set)\w+__"),
    "keras.Variable": re.compile(r"numpy|shape|dtype|__(?!init|set)\w+__"),
    "tensorflow.data.Dataset": re.compile(
        r"batch|unbatch|repeat|take|skip|prefetch|concatenate|enumerate|padded_batch|ragged_batch|range|zip|from_tensors"
        r"|from_tensor_slices|window|shard|cardinality|element_spec|options|with_options|rebatch|unique|ignore_errors"
    ),
    "keras.Loss": re.compile(r"__call__|call|get_config"),
    "keras.optimizers.schedules.LearningRateSchedule": re.compile(r"__call__|get_config"),
    "keras.Regularizer": re.compile(r"__call__|get_config"),
}
STATELESS_LAYERS = re.compile(
    r"keras\.layers\.(Activation|Add|Average(Pooling\dD)?|Concatenate|Conv\w+|Cropping\dD|Dense|Depthwise\w+|Dot|ELU"
    r"|EinsumDense|Embedding|Flatten|Global\w+|GroupNormalization|Identity|LayerNormalization|LeakyReLU|Masking"
    r"|Max\w+|Maximum|Minimum|Multiply|Normalization|PReLU|Permute|ReLU|RepeatVector|Rescaling|Reshape|Resizing"
    r"|SeparableConv\w+|Softmax|Subtract|UnitNormalization|UpSampling\dD|ZeroPadding\dD|CategoryEncoding|CenterCrop"
    r"|Discretization|Hashing|HashedCrossing|InputLayer|IntegerLookup|StringLookup|TextVectorization|Attention"
    r"|AdditiveAttention|RMSNormalization)"
)


def is_pure(name: str, kind: str, owners: list[str]) -> bool:
    """True where calling again changes nothing and gives the same; `owners` are a member's classes."""
    if kind == "property":
        return True
    if kind == "class":
        return name in PURE_CLASSES
    if kind == "method":
        member = name.rpartition(".")[2]
        if member == "__call__" and "keras.Layer" in owners:
            return bool(STATELESS_LAYERS.fullmatch(owners[0]))
        return any(PURE_RECEIVERS[owner].fullmatch(member) for owner in owners if owner in PURE_RECEIVERS)
    return bool(PURE_MODULES.fullmatch(name)) and not IMPURE.search(name)
