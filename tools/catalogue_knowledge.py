"""What no introspection tells: results of calls, purity, attributes of instances, and names of old versions."""

from __future__ import annotations

import re

TENSOR = "tensorflow.Tensor"
DATASET = "tensorflow.data.Dataset"
VARIABLES = "list[keras.Variable]"
ARRAYS = "tuple[numpy.ndarray, numpy.ndarray]"

RETURNS: dict[str, str | None] = {
    # Keras models and layers
    "keras.Input": "keras.KerasTensor",
    "keras.Layer.__call__": TENSOR,
    "keras.Model.fit": "keras.callbacks.History",
    "keras.Model.fit_generator": "keras.callbacks.History",
    "keras.Model.predict": "numpy.ndarray",
    "keras.Model.predict_on_batch": "numpy.ndarray",
    "keras.Model.evaluate": "list[float]",
    "keras.Model.train_on_batch": "list[float]",
    "keras.Model.test_on_batch": "list[float]",
    "keras.Model.get_layer": "keras.Layer",
    "keras.Model.get_weights": "list[numpy.ndarray]",
    "keras.Layer.get_weights": "list[numpy.ndarray]",
    "keras.Layer.add_weight": "keras.Variable",
    "keras.Layer.call": TENSOR,
    "keras.Layer.from_config": "self",
    "keras.Model.from_config": "self",
    "keras.Sequential.from_config": "self",
    "keras.Model.layers": "list[keras.Layer]",
    "keras.Sequential.layers": "list[keras.Layer]",
    "keras.Model.optimizer": "keras.Optimizer",
    "keras.Model.history": "keras.callbacks.History",
    "keras.Model.metrics": "list[keras.Metric]",
    "keras.Model.compute_loss": TENSOR,
    "keras.Model.input": "keras.KerasTensor",
    "keras.Model.output": "keras.KerasTensor",
    "keras.Model.inputs": "list[keras.KerasTensor]",
    "keras.Model.outputs": "list[keras.KerasTensor]",
    "keras.Layer.input": "keras.KerasTensor",
    "keras.Layer.output": "keras.KerasTensor",
    "keras.Layer.weights": VARIABLES,
    "keras.Layer.variables": VARIABLES,
    "keras.Layer.trainable_weights": VARIABLES,
    "keras.Layer.trainable_variables": VARIABLES,
    "keras.Layer.non_trainable_weights": VARIABLES,
    "keras.Layer.non_trainable_variables": VARIABLES,
    "keras.Layer.losses": f"list[{TENSOR}]",
    "keras.Layer.kernel": "keras.Variable",
    "keras.Layer.bias": "keras.Variable",
    "keras.Layer.embeddings": "keras.Variable",
    "keras.layers.TextVectorization.get_vocabulary": "list[str]",
    "keras.models.clone_model": "keras.Model",
    "keras.models.load_model": "keras.Model",
    "keras.models.model_from_json": "keras.Model",
    "keras.saving.load_model": "keras.Model",
    "keras.callbacks.Callback.model": "keras.Model",
    "keras.callbacks.History.history": "dict[list[float]]",
    # optimizers, losses, metrics
    "keras.Optimizer.iterations": "keras.Variable",
    "keras.Optimizer.learning_rate": "keras.Variable",
    "keras.Optimizer.variables": VARIABLES,
    "keras.Optimizer.from_config": "self",
    "keras.Loss.__call__": TENSOR,
    "keras.Loss.call": TENSOR,
    "keras.Metric.__call__": TENSOR,
    "keras.Metric.result": TENSOR,
    "keras.Metric.variables": VARIABLES,
    "keras.Metric.add_weight": "keras.Variable",
    "keras.Metric.add_variable": "keras.Variable",
    "keras.Initializer.__call__": TENSOR,
    "keras.Regularizer.__call__": TENSOR,
    "keras.constraints.Constraint.__call__": TENSOR,
    "keras.optimizers.schedules.LearningRateSchedule.__call__": TENSOR,
    "keras.optimizers.get": "keras.Optimizer",
    "keras.losses.get": "keras.Loss",
    "keras.metrics.get": "keras.Metric",
    "keras.initializers.get": "keras.Initializer",
    "keras.layers.deserialize": "keras.Layer",
    "keras.optimizers.deserialize": "keras.Optimizer",
    "keras.Variable.numpy": "numpy.ndarray",
    "keras.Variable.value": TENSOR,
    "keras.Variable.assign": TENSOR,
    "keras.Variable.assign_add": TENSOR,
    "keras.Variable.assign_sub": TENSOR,
    # Keras helpers
    "keras.utils.to_categorical": "numpy.ndarray",
    "keras.utils.normalize": "numpy.ndarray",
    "keras.utils.img_to_array": "numpy.ndarray",
    "keras.utils.pad_sequences": "numpy.ndarray",
    "keras.utils.get_file": "str",
    "keras.utils.timeseries_dataset_from_array": DATASET,
    "keras.utils.image_dataset_from_directory": DATASET,
    "keras.utils.text_dataset_from_directory": DATASET,
    "keras.utils.audio_dataset_from_directory": DATASET,
    "keras.utils.split_dataset": f"tuple[{DATASET}, {DATASET}]",
    "keras.ops.convert_to_numpy": "numpy.ndarray",
    "keras.ops.shape": "tuple",
    "keras.ops.split": f"list[{TENSOR}]",
    "keras.ops.array_split": f"list[{TENSOR}]",
    "keras.ops.unstack": f"list[{TENSOR}]",
    "keras.ops.meshgrid": f"list[{TENSOR}]",
    # tensors and variables
    "tensorflow.Tensor.numpy": "numpy.ndarray",
    "tensorflow.Tensor.shape": "tensorflow.TensorShape",
    "tensorflow.Tensor.get_shape": "tensorflow.TensorShape",
    "tensorflow.Tensor.dtype": "tensorflow.dtypes.DType",
    "tensorflow.Tensor.op": "tensorflow.Operation",
    "tensorflow.Tensor.graph": "tensorflow.Graph",
    "tensorflow.Tensor.cpu": TENSOR,
    "tensorflow.Tensor.gpu": TENSOR,
    "tensorflow.Tensor.__getitem__": TENSOR,
    "tensorflow.Tensor.__iter__": f"iterator[{TENSOR}]",
    "tensorflow.Variable.__iter__": f"iterator[{TENSOR}]",
    "tensorflow.Variable.__getitem__": TENSOR,
    "tensorflow.Variable.numpy": "numpy.ndarray",
    "tensorflow.Variable.value": TENSOR,
    "tensorflow.Variable.read_value": TENSOR,
    "tensorflow.Variable.initialized_value": TENSOR,
    "tensorflow.Variable.shape": "tensorflow.TensorShape",
    "tensorflow.Variable.get_shape": "tensorflow.TensorShape",
    "tensorflow.Variable.dtype": "tensorflow.dtypes.DType",
    "tensorflow.Variable.assign": "tensorflow.Variable",
    "tensorflow.Variable.assign_add": "tensorflow.Variable",
    "tensorflow.Variable.assign_sub": "tensorflow.Variable",
    "tensorflow.Variable.scatter_add": "tensorflow.Variable",
    "tensorflow.Variable.scatter_nd_update": "tensorflow.Variable",
    "tensorflow.Variable.scatter_update": "tensorflow.Variable",
    "tensorflow.Variable.sparse_read": TENSOR,
    "tensorflow.RaggedTensor.__getitem__": TENSOR,
    "tensorflow.RaggedTensor.__iter__": f"iterator[{TENSOR}]",
    "tensorflow.RaggedTensor.to_list": "list",
    "tensorflow.RaggedTensor.flat_values": TENSOR,
    "tensorflow.RaggedTensor.values": TENSOR,
    "tensorflow.IndexedSlices.values": TENSOR,
    "tensorflow.IndexedSlices.indices": TENSOR,
    "tensorflow.TensorShape.as_list": "list[int]",
    "tensorflow.TensorArray.write": "tensorflow.TensorArray",
    "tensorflow.TensorArray.unstack": "tensorflow.TensorArray",
    "tensorflow.TensorArray.scatter": "tensorflow.TensorArray",
    "tensorflow.TensorArray.split": "tensorflow.TensorArray",
    "tensorflow.TensorArray.identity": "tensorflow.TensorArray",
    "tensorflow.TensorArray.grad": "tensorflow.TensorArray",
    "tensorflow.TensorArray.read": TENSOR,
    "tensorflow.TensorArray.stack": TENSOR,
    "tensorflow.TensorArray.gather": TENSOR,
    "tensorflow.TensorArray.concat": TENSOR,
    "tensorflow.TensorArray.size": TENSOR,
    # gradients, functions, devices
    "tensorflow.GradientTape.__enter__": "self",
    "tensorflow.GradientTape.gradient": TENSOR,
    "tensorflow.GradientTape.jacobian": TENSOR,
    "tensorflow.GradientTape.batch_jacobian": TENSOR,
    "tensorflow.autodiff.ForwardAccumulator.__enter__": "self",
    "tensorflow.autodiff.ForwardAccumulator.jvp": TENSOR,
    "tensorflow.function": "tensorflow.types.experimental.PolymorphicFunction",
    "tensorflow.types.experimental.PolymorphicFunction.get_concrete_function": (
        "tensorflow.types.experimental.ConcreteFunction"
    ),
    "tensorflow.types.experimental.PolymorphicFunction.__call__": TENSOR,
    "tensorflow.types.experimental.ConcreteFunction.__call__": TENSOR,
    "tensorflow.types.experimental.ConcreteFunction.graph": "tensorflow.Graph",
    "tensorflow.gradients": f"list[{TENSOR}]",
    "tensorflow.clip_by_global_norm": f"tuple[list[{TENSOR}], {TENSOR}]",
    "tensorflow.map_fn": TENSOR,
    "tensorflow.vectorized_map": TENSOR,
    "tensorflow.scan": TENSOR,
    "tensorflow.foldl": TENSOR,
    "tensorflow.foldr": TENSOR,
    "tensorflow.cond": TENSOR,
    "tensorflow.case": TENSOR,
    "tensorflow.switch_case": TENSOR,
    "tensorflow.while_loop": f"list[{TENSOR}]",
    "tensorflow.py_function": TENSOR,
    "tensorflow.numpy_function": TENSOR,
    "tensorflow.split": f"list[{TENSOR}]",
    "tensorflow.unstack": f"list[{TENSOR}]",
    "tensorflow.meshgrid": f"list[{TENSOR}]",
    "tensorflow.dynamic_partition": f"list[{TENSOR}]",
    "tensorflow.nn.moments": f"tuple[{TENSOR}, {TENSOR}]",
    "tensorflow.math.top_k": f"tuple[{TENSOR}, {TENSOR}]",
    "tensorflow.unique": f"tuple[{TENSOR}, {TENSOR}]",
    "tensorflow.unique_with_counts": f"tuple[{TENSOR}, {TENSOR}, {TENSOR}]",
    "tensorflow.linalg.svd": f"tuple[{TENSOR}, {TENSOR}, {TENSOR}]",
    "tensorflow.linalg.eigh": f"tuple[{TENSOR}, {TENSOR}]",
    "tensorflow.linalg.eig": f"tuple[{TENSOR}, {TENSOR}]",
    "tensorflow.linalg.qr": f"tuple[{TENSOR}, {TENSOR}]",
    "tensorflow.linalg.lu": f"tuple[{TENSOR}, {TENSOR}]",
    "tensorflow.linalg.slogdet": f"tuple[{TENSOR}, {TENSOR}]",
    "tensorflow.audio.decode_wav": f"tuple[{TENSOR}, {TENSOR}]",
    "tensorflow.convert_to_tensor": TENSOR,
    "tensorflow.constant": TENSOR,
    "tensorflow.identity": TENSOR,
    "tensorflow.recompute_grad": None,
    "tensorflow.custom_gradient": None,
    "tensorflow.no_gradient": None,
    "tensorflow.get_static_value": "numpy.ndarray",
    "tensorflow.get_logger": "logging.Logger",
    "tensorflow.make_ndarray": "numpy.ndarray",
    "tensorflow.ragged.constant": "tensorflow.RaggedTensor",
    "tensorflow.ragged.range": "tensorflow.RaggedTensor",
    "tensorflow.ragged.stack": "tensorflow.RaggedTensor",
    "tensorflow.strings.split": "tensorflow.RaggedTensor",
    "tensorflow.strings.bytes_split": "tensorflow.RaggedTensor",
    "tensorflow.strings.unicode_split": "tensorflow.RaggedTensor",
    "tensorflow.strings.unicode_decode": "tensorflow.RaggedTensor",
    "tensorflow.sparse.from_dense": "tensorflow.sparse.SparseTensor",
    "tensorflow.sparse.add": "tensorflow.sparse.SparseTensor",
    "tensorflow.sparse.concat": "tensorflow.sparse.SparseTensor",
    "tensorflow.sparse.reorder": "tensorflow.sparse.SparseTensor",
    "tensorflow.sparse.to_dense": TENSOR,
    "tensorflow.sparse.sparse_dense_matmul": TENSOR,
    "tensorflow.io.parse_single_example": f"dict[{TENSOR}]",
    "tensorflow.io.parse_example": f"dict[{TENSOR}]",
    "tensorflow.io.gfile.glob": "list[str]",
    "tensorflow.io.gfile.listdir": "list[str]",
    "tensorflow.io.gfile.exists": "bool",
    "tensorflow.train.latest_checkpoint": "str",
    "tensorflow.saved_model.load": "tensorflow.Module",
    "tensorflow.config.list_physical_devices": "list[tensorflow.config.PhysicalDevice]",
    "tensorflow.config.experimental.list_physical_devices": "list[tensorflow.config.PhysicalDevice]",
    "tensorflow.config.list_logical_devices": "list[tensorflow.config.LogicalDevice]",
    "tensorflow.distribute.get_strategy": "tensorflow.distribute.Strategy",
    "tensorflow.distribute.Strategy.run": TENSOR,
    "tensorflow.distribute.Strategy.reduce": TENSOR,
    "tensorflow.distribute.Strategy.experimental_distribute_dataset": (
        "tensorflow.distribute.DistributedDataset"
    ),
    "tensorflow.summary.create_file_writer": "tensorflow.summary.SummaryWriter",
    "tensorflow.random.get_global_generator": "tensorflow.random.Generator",
    "tensorflow.random.Generator.from_seed": "tensorflow.random.Generator",
    "tensorflow.random.Generator.from_non_deterministic_state": "tensorflow.random.Generator",
    "tensorflow.random.Generator.split": "list[tensorflow.random.Generator]",
    "tensorflow.lite.TFLiteConverter.from_keras_model": "tensorflow.lite.TFLiteConverter",
    "tensorflow.lite.TFLiteConverter.from_saved_model": "tensorflow.lite.TFLiteConverter",
    "tensorflow.lite.TFLiteConverter.from_concrete_functions": "tensorflow.lite.TFLiteConverter",
    "tensorflow.lite.TFLiteConverter.convert": "bytes",
    "tensorflow.lite.Interpreter.get_tensor": "numpy.ndarray",
    "tensorflow.Variable.ref": "tensorflow.python.util.object_identity.Reference",
    "tensorflow.Tensor.ref": "tensorflow.python.util.object_identity.Reference",
    "tensorflow.python.checkpoint.checkpoint.CheckpointLoadStatus.assert_consumed": "self",
    "tensorflow.python.checkpoint.checkpoint.CheckpointLoadStatus.assert_existing_objects_matched": "self",
    "tensorflow.python.checkpoint.checkpoint.CheckpointLoadStatus.assert_nontrivial_match": "self",
    "tensorflow.python.checkpoint.checkpoint.CheckpointLoadStatus.expect_partial": "self",
    "tensorflow.compat.v1.lite.TFLiteConverter.from_frozen_graph": "self",
    "tensorflow.compat.v1.lite.TFLiteConverter.from_saved_model": "self",
    "tensorflow.compat.v1.lite.TFLiteConverter.from_keras_model_file": "self",
    "tensorflow.compat.v1.lite.TFLiteConverter.from_session": "self",
    "tensorflow.compat.v1.lite.TFLiteConverter.convert": "bytes",
    # datasets
    "tensorflow.data.Dataset.__iter__": "tensorflow.data.Iterator",
    "tensorflow.data.Iterator.__iter__": "self",
    "tensorflow.data.Iterator.__next__": TENSOR,
    "tensorflow.data.Iterator.get_next": TENSOR,
    "tensorflow.data.Iterator.get_next_as_optional": "tensorflow.experimental.Optional",
    "tensorflow.experimental.Optional.get_value": TENSOR,
    "tensorflow.experimental.Optional.has_value": TENSOR,
    "tensorflow.data.Dataset.cardinality": TENSOR,
    "tensorflow.data.Dataset.reduce": TENSOR,
    "tensorflow.data.Dataset.get_single_element": TENSOR,
    "tensorflow.data.Dataset.as_numpy_iterator": "iterator[numpy.ndarray]",
    "tensorflow.data.experimental.make_csv_dataset": DATASET,
    "tensorflow.data.experimental.make_batched_features_dataset": DATASET,
    "tensorflow.data.experimental.cardinality": TENSOR,
    "tensorflow.distribute.DistributedDataset.__iter__": "tensorflow.distribute.DistributedIterator",
    "tensorflow.distribute.DistributedIterator.__next__": TENSOR,
    "tensorflow.compat.v1.data.make_one_shot_iterator": "tensorflow.compat.v1.data.Iterator",
    "tensorflow.compat.v1.data.make_initializable_iterator": "tensorflow.compat.v1.data.Iterator",
    "tensorflow.compat.v1.data.Iterator.get_next": TENSOR,
    # sessions and graphs of version 1
    "tensorflow.compat.v1.Session.__enter__": "self",
    "tensorflow.compat.v1.Session.run": "numpy.ndarray",
    "tensorflow.compat.v1.Session.graph": "tensorflow.Graph",
    "tensorflow.compat.v1.placeholder": TENSOR,
    "tensorflow.compat.v1.placeholder_with_default": TENSOR,
    "tensorflow.compat.v1.get_variable": "tensorflow.Variable",
    "tensorflow.compat.v1.global_variables_initializer": "tensorflow.Operation",
    "tensorflow.compat.v1.local_variables_initializer": "tensorflow.Operation",
    "tensorflow.compat.v1.variables_initializer": "tensorflow.Operation",
    "tensorflow.compat.v1.train.Optimizer.minimize": "tensorflow.Operation",
    "tensorflow.compat.v1.train.Optimizer.apply_gradients": "tensorflow.Operation",
    "tensorflow.compat.v1.global_variables": "list[tensorflow.Variable]",
    "tensorflow.compat.v1.trainable_variables": "list[tensorflow.Variable]",
    "tensorflow.compat.v1.get_default_graph": "tensorflow.Graph",
    "tensorflow.compat.v1.get_default_session": "tensorflow.compat.v1.Session",
    "tensorflow.compat.v1.gradients": f"list[{TENSOR}]",
    "tensorflow.Graph.as_default": "tensorflow.Graph",
    "tensorflow.Graph.get_tensor_by_name": TENSOR,
    "tensorflow.Graph.get_operation_by_name": "tensorflow.Operation",
    "tensorflow.Graph.get_operations": "list[tensorflow.Operation]",
    "tensorflow.Graph.as_graph_def": "tensorflow.compat.v1.GraphDef",
    "tensorflow.Operation.outputs": f"list[{TENSOR}]",
    "tensorflow.train.Checkpoint.restore": "tensorflow.python.checkpoint.checkpoint.CheckpointLoadStatus",
    "tensorflow.train.Checkpoint.read": "tensorflow.python.checkpoint.checkpoint.CheckpointLoadStatus",
    "tensorflow.train.Checkpoint.save": "str",
    "tensorflow.train.Checkpoint.write": "str",
    "tensorflow.train.CheckpointManager.save": "str",
    "tensorflow.train.CheckpointManager.latest_checkpoint": "str",
    "tensorflow.train.load_checkpoint": "tensorflow.python.util._pywrap_checkpoint_reader.CheckpointReader",
    "tensorflow.lite.Interpreter.get_signature_runner": "tensorflow.lite.python.interpreter.SignatureRunner",
    "tensorflow.io.TFRecordWriter.__enter__": "self",
    "tensorflow.io.gfile.GFile.__enter__": "self",
}

DATASET_NAMES = "mnist fashion_mnist cifar10 cifar100 boston_housing california_housing imdb reuters".split()
for _name in DATASET_NAMES:
    RETURNS[f"keras.datasets.{_name}.load_data"] = f"tuple[{ARRAYS}, {ARRAYS}]"
for _operator in (
    "add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod pow rpow matmul rmatmul "
    "neg abs invert and or xor lt le gt ge eq ne getitem"
).split():
    for _class in (TENSOR, "tensorflow.Variable", "keras.Variable", "keras.KerasTensor"):
        _result = _class if _class == "keras.KerasTensor" else TENSOR
        RETURNS.setdefault(f"{_class}.__{_operator}__", _result)
    RETURNS.setdefault(f"tensorflow.RaggedTensor.__{_operator}__", "tensorflow.RaggedTensor")

INSTANCE_ATTRIBUTES = """
keras.Model.optimizer keras.Model.history keras.Model.inputs keras.Model.outputs keras.Model.loss
keras.Model.stop_training keras.Layer.kernel keras.Layer.bias keras.Layer.embeddings keras.callbacks.Callback.model
keras.callbacks.Callback.params keras.callbacks.History.history keras.callbacks.History.epoch
keras.Optimizer.iterations tensorflow.Tensor.op tensorflow.Tensor.graph
""".split()
"""Set on instances by TensorFlow and Keras themselves, so that no class shows them."""

INSTANCE_CLASSES = {
    "tensorflow.Tensor": ["tensorflow.python.framework.ops:EagerTensor"],
    "tensorflow.Variable": ["tensorflow.python.ops.resource_variable_ops:ResourceVariable"],
    "tensorflow.data.Iterator": ["tensorflow.python.data.ops.iterator_ops:OwnedIterator"],
    "tensorflow.types.experimental.PolymorphicFunction": [
        "tensorflow.python.eager.polymorphic_function.polymorphic_function:Function"
    ],
    "tensorflow.types.experimental.ConcreteFunction": [
        "tensorflow.python.eager.polymorphic_function.concrete_function:ConcreteFunction"
    ],
    "tensorflow.distribute.DistributedDataset": ["tensorflow.python.distribute.input_lib:DistributedDataset"],
    "tensorflow.distribute.DistributedIterator": [
        "tensorflow.python.distribute.input_lib:DistributedIterator"
    ],
    "tensorflow.summary.SummaryWriter": ["tensorflow.python.ops.summary_ops_v2:_ResourceSummaryWriter"],
    "tensorflow.experimental.Optional": ["tensorflow.python.data.ops.optional_ops:_OptionalImpl"],
    "keras.Model": ["keras.src.models.functional:Functional"],
}
"""Private classes of which the instances of a public class really are: their methods count as the public class's."""

PRIVATE_CLASSES = [
    "tensorflow.python.checkpoint.checkpoint.CheckpointLoadStatus",
    "tensorflow.python.util._pywrap_checkpoint_reader.CheckpointReader",
    "tensorflow.lite.python.interpreter.SignatureRunner",
    "tensorflow.python.util.object_identity.Reference",
]
"""Not exported, without a public base, but what public calls return: known under the name they import by."""

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
    """tensorflow.TensorShape tensorflow.TensorSpec tensorflow.RaggedTensorSpec tensorflow.SparseTensorSpec
    tensorflow.sparse.SparseTensor tensorflow.IndexedSlices tensorflow.dtypes.DType tensorflow.io.FixedLenFeature
    tensorflow.io.VarLenFeature tensorflow.io.FixedLenSequenceFeature tensorflow.io.RaggedFeature
    tensorflow.io.SparseFeature tensorflow.train.Example tensorflow.train.Feature tensorflow.train.Features
    tensorflow.train.Int64List tensorflow.train.FloatList tensorflow.train.BytesList""".split()
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
    """True where calling the name again changes nothing and gives the same; `owners` are a member's classes."""
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
