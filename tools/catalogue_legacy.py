"""Names of TensorFlow 1 and Keras 2 that people still write, with the version that removed them."""

from __future__ import annotations

from typing import NamedTuple

from catalogue_returns import words


class Legacy(NamedTuple):
    """One removed name."""

    kind: str
    removed_in: str
    returns: str | None = None
    base: str | None = None


K3 = "Keras 3"
TF2 = "TensorFlow 2.0"
TF216 = "TensorFlow 2.16"
TENSOR = "tensorflow.Tensor"

ESTIMATORS = words("""DNNClassifier DNNRegressor LinearClassifier LinearRegressor DNNLinearCombinedClassifier
DNNLinearCombinedRegressor BaselineClassifier BaselineRegressor BoostedTreesClassifier BoostedTreesRegressor
DNNEstimator LinearEstimator BaselineEstimator BoostedTreesEstimator DNNLinearCombinedEstimator""")
ESTIMATOR_METHODS = {
    "train": "self",
    "evaluate": "dict[float]",
    "predict": "iterator[dict]",
    "export_saved_model": "bytes",
    "export_savedmodel": "bytes",
    "experimental_export_all_saved_models": "bytes",
    "get_variable_names": "list[str]",
    "get_variable_value": "numpy.ndarray",
    "latest_checkpoint": "str",
    "eval_dir": "str",
}
ESTIMATOR_CLASSES = words("""RunConfig TrainSpec EvalSpec EstimatorSpec ModeKeys Exporter FinalExporter
LatestExporter
BestExporter SessionRunHook SessionRunContext CheckpointSaverHook CheckpointSaverListener LoggingTensorHook
NanTensorHook
StepCounterHook StopAtStepHook SummarySaverHook SecondOrStepTimer GlobalStepWaiterHook FinalOpsHook FeedFnHook
ProfilerHook VocabInfo WarmStartSettings Head BinaryClassHead MultiClassHead RegressionHead MultiHead
MultiLabelHead
export.ServingInputReceiver export.TensorServingInputReceiver export.ExportOutput export.PredictOutput
export.ClassificationOutput export.RegressionOutput experimental.InMemoryEvaluatorHook experimental.LinearSDCA
experimental.RNNClassifier experimental.RNNEstimator experimental.KMeans tpu.TPUEstimator tpu.TPUConfig
tpu.RunConfig tpu.TPUEstimatorSpec""")
ESTIMATOR_FUNCTIONS = words("""classifier_parse_example_spec regressor_parse_example_spec train_and_evaluate
export.build_parsing_serving_input_receiver_fn export.build_raw_serving_input_receiver_fn
experimental.make_early_stopping_hook experimental.make_stop_at_checkpoint_step_hook
experimental.stop_if_higher_hook experimental.stop_if_lower_hook experimental.stop_if_no_decrease_hook
experimental.stop_if_no_increase_hook experimental.build_raw_supervised_input_receiver_fn
inputs.numpy_input_fn inputs.pandas_input_fn""")

V1_LAYER_FUNCTIONS = words("""average_pooling1d average_pooling2d average_pooling3d batch_normalization
conv1d conv2d
conv2d_transpose conv3d conv3d_transpose dense dropout flatten max_pooling1d max_pooling2d max_pooling3d
separable_conv1d separable_conv2d""")
V1_LAYER_CLASSES = words("""AveragePooling1D AveragePooling2D AveragePooling3D BatchNormalization Conv1D
Conv2D
Conv2DTranspose Conv3D Conv3DTranspose Dense Dropout Flatten MaxPooling1D MaxPooling2D MaxPooling3D
SeparableConv1D
SeparableConv2D Layer InputSpec""")
RNN_CELLS = words("""BasicLSTMCell BasicRNNCell LSTMCell GRUCell RNNCell MultiRNNCell DropoutWrapper
DeviceWrapper
ResidualWrapper LSTMStateTuple""")

CONTRIB_FUNCTIONS = words("""layers.fully_connected layers.conv2d layers.conv2d_transpose layers.max_pool2d
layers.avg_pool2d
layers.flatten layers.dropout layers.batch_norm layers.layer_norm layers.xavier_initializer
layers.xavier_initializer_conv2d layers.variance_scaling_initializer layers.l2_regularizer
layers.l1_regularizer
layers.embed_sequence layers.optimize_loss layers.apply_regularization layers.one_hot_encoding layers.linear
layers.summarize_activation layers.instance_norm layers.separable_conv2d layers.real_valued_column
layers.sparse_column_with_hash_bucket slim.conv2d slim.conv2d_transpose slim.fully_connected slim.max_pool2d
slim.avg_pool2d slim.dropout slim.flatten slim.batch_norm slim.arg_scope slim.stack slim.repeat
slim.l2_regularizer
slim.get_variables slim.get_model_variables slim.get_variables_to_restore slim.separable_conv2d
slim.learning.train slim.learning.create_train_op slim.evaluation.evaluate_once slim.assign_from_checkpoint_fn
rnn.static_rnn rnn.static_bidirectional_rnn rnn.stack_bidirectional_dynamic_rnn
learn.infer_real_valued_columns_from_input
learn.learn_runner.run seq2seq.dynamic_decode seq2seq.sequence_loss seq2seq.tile_batch
crf.crf_log_likelihood crf.viterbi_decode crf.crf_decode framework.get_variables framework.arg_scope
framework.nest.flatten data.map_and_batch data.shuffle_and_repeat data.prefetch_to_device
lookup.index_table_from_file
lookup.index_table_from_tensor image.rotate image.transform quantize.create_training_graph
quantize.create_eval_graph
tpu.initialize_system tpu.rewrite tpu.keras_to_tpu_model summary.create_file_writer summary.scalar
losses.metric_learning.triplet_semihard_loss opt.ScipyOptimizerInterface eager.defun""")
CONTRIB_CLASSES = [
    f"rnn.{cell}" for cell in (*RNN_CELLS, "LayerNormBasicLSTMCell", "OutputProjectionWrapper")
]
CONTRIB_CLASSES += words("""learn.DNNClassifier learn.DNNRegressor learn.LinearClassifier
learn.LinearRegressor learn.Estimator
learn.Experiment learn.RunConfig seq2seq.BasicDecoder seq2seq.BeamSearchDecoder seq2seq.TrainingHelper
seq2seq.GreedyEmbeddingHelper seq2seq.BahdanauAttention seq2seq.LuongAttention seq2seq.AttentionWrapper
cudnn_rnn.CudnnLSTM cudnn_rnn.CudnnGRU opt.AdamWOptimizer opt.LazyAdamOptimizer opt.NadamOptimizer
opt.MovingAverageOptimizer distribute.MirroredStrategy distribute.TPUStrategy distribute.OneDeviceStrategy
tpu.TPUEstimator tpu.CrossShardOptimizer eager.Iterator""")


def _estimators() -> dict[str, Legacy]:
    found: dict[str, Legacy] = {}
    for root in ("tensorflow.estimator", "tensorflow.compat.v1.estimator"):
        base = f"{root}.Estimator"
        found[base] = Legacy("class", TF216)
        for method, returns in ESTIMATOR_METHODS.items():
            found[f"{base}.{method}"] = Legacy("method", TF216, returns)
        for name in ESTIMATORS:
            found[f"{root}.{name}"] = Legacy("class", TF216, base=base)
        found |= {f"{root}.{name}": Legacy("class", TF216) for name in ESTIMATOR_CLASSES}
        found |= {f"{root}.{name}": Legacy("function", TF216) for name in ESTIMATOR_FUNCTIONS}
        found[f"{root}.add_metrics"] = Legacy("function", TF216, base)
        found[f"{root}.tpu.TPUEstimator"] = Legacy("class", TF216, base=base)
    found["keras.estimator.model_to_estimator"] = Legacy("function", TF216, "tensorflow.estimator.Estimator")
    return found


def _layers() -> dict[str, Legacy]:
    found: dict[str, Legacy] = {}
    root = "tensorflow.compat.v1.layers"
    found |= {f"{root}.{name}": Legacy("function", TF216, TENSOR) for name in V1_LAYER_FUNCTIONS}
    found |= {f"{root}.{name}": Legacy("class", TF216, base="keras.Layer") for name in V1_LAYER_CLASSES}
    cells = "tensorflow.compat.v1.nn.rnn_cell"
    found |= {f"{cells}.{name}": Legacy("class", TF216, base="keras.Layer") for name in RNN_CELLS}
    return found


def _keras() -> dict[str, Legacy]:
    found: dict[str, Legacy] = {
        "keras.Model.fit_generator": Legacy("method", K3, "keras.callbacks.History"),
        "keras.Model.evaluate_generator": Legacy("method", K3, "list[float]"),
        "keras.Model.predict_generator": Legacy("method", K3, "numpy.ndarray"),
        "keras.Model.predict_classes": Legacy("method", "TensorFlow 2.6", "numpy.ndarray"),
        "keras.Model.predict_proba": Legacy("method", "TensorFlow 2.6", "numpy.ndarray"),
        "keras.Model.reset_states": Legacy("method", K3),
        "keras.Model.to_yaml": Legacy("method", "TensorFlow 2.6", "str"),
        "keras.Model.save_spec": Legacy("method", K3),
        "keras.Model.get_input_at": Legacy("method", K3),
        "keras.Model.get_output_at": Legacy("method", K3),
        "keras.Layer.get_input_at": Legacy("method", K3),
        "keras.Layer.get_output_at": Legacy("method", K3),
        "keras.Layer.get_input_shape_at": Legacy("method", K3),
        "keras.Layer.get_output_shape_at": Legacy("method", K3),
        "keras.Layer.add_update": Legacy("method", K3),
        "keras.Layer.get_losses_for": Legacy("method", K3),
        "keras.Layer.reset_states": Legacy("method", K3),
        "keras.Layer.output_shape": Legacy("property", K3),
        "keras.Layer.input_shape": Legacy("property", K3),
        "keras.Metric.reset_states": Legacy("method", K3),
        "keras.Optimizer.get_updates": Legacy("method", K3),
        "keras.Optimizer.get_gradients": Legacy("method", K3),
        "keras.Optimizer.get_weights": Legacy("method", K3, "list[numpy.ndarray]"),
        "keras.Optimizer.minimize": Legacy("method", K3),
        "keras.optimizers.LossScaleOptimizer.get_scaled_loss": Legacy("method", K3, TENSOR),
        "keras.optimizers.LossScaleOptimizer.get_unscaled_gradients": Legacy("method", K3, f"list[{TENSOR}]"),
        "keras.layers.DenseFeatures": Legacy("class", K3, base="keras.Layer"),
        "keras.layers.SequenceFeatures": Legacy("class", K3, base="keras.Layer"),
        "keras.experimental.SequenceFeatures": Legacy("class", K3, base="keras.Layer"),
        "keras.experimental.LinearModel": Legacy("class", K3, base="keras.Model"),
        "keras.experimental.WideDeepModel": Legacy("class", K3, base="keras.Model"),
        "keras.layers.CuDNNLSTM": Legacy("class", TF2, base="keras.layers.LSTM"),
        "keras.layers.CuDNNGRU": Legacy("class", TF2, base="keras.layers.GRU"),
        "keras.layers.LocallyConnected1D": Legacy("class", K3, base="keras.Layer"),
        "keras.layers.LocallyConnected2D": Legacy("class", K3, base="keras.Layer"),
        "keras.layers.Highway": Legacy("class", "Keras 2", base="keras.Layer"),
        "keras.layers.MaxoutDense": Legacy("class", "Keras 2", base="keras.Layer"),
        "keras.layers.SyncBatchNormalization": Legacy("class", K3, base="keras.layers.BatchNormalization"),
        "keras.models.model_from_yaml": Legacy("function", "TensorFlow 2.6", "keras.Model"),
        "keras.utils.multi_gpu_model": Legacy("function", "TensorFlow 2.4", "keras.Model"),
        "keras.wrappers.scikit_learn.KerasClassifier": Legacy("class", "TensorFlow 2.12"),
        "keras.wrappers.scikit_learn.KerasRegressor": Legacy("class", "TensorFlow 2.12"),
        "keras.backend.set_session": Legacy("function", K3),
        "keras.backend.get_session": Legacy("function", K3, "tensorflow.compat.v1.Session"),
        "keras.backend.set_learning_phase": Legacy("function", K3),
        "keras.backend.learning_phase": Legacy("function", K3),
        "keras.backend.placeholder": Legacy("function", K3, TENSOR),
        "keras.backend.function": Legacy("function", K3),
        "keras.mixed_precision.experimental.Policy": Legacy(
            "class", "TensorFlow 2.7", base="keras.dtype_policies.DTypePolicy"
        ),
        "keras.mixed_precision.experimental.set_policy": Legacy("function", "TensorFlow 2.7"),
        "keras.mixed_precision.experimental.LossScaleOptimizer": Legacy(
            "class", "TensorFlow 2.7", base="keras.optimizers.LossScaleOptimizer"
        ),
    }
    return found


def _numpy_behaviour() -> dict[str, Legacy]:
    """Methods that tensors have after `experimental_enable_numpy_behavior()`: never removed, seldom there."""
    methods = dict.fromkeys(words("astype ravel reshape transpose clip max mean min sum"), TENSOR)
    return {f"tensorflow.Tensor.{name}": Legacy("method", "", result) for name, result in methods.items()} | {
        "tensorflow.Tensor.T": Legacy("property", "", TENSOR),
        "tensorflow.Tensor.tolist": Legacy("method", "", "list"),
    }


def removed_names() -> dict[str, Legacy]:
    """Every old name by its canonical spelling."""
    contrib = {f"tensorflow.contrib.{name}": Legacy("function", TF2) for name in CONTRIB_FUNCTIONS}
    contrib |= {f"tensorflow.contrib.{name}": Legacy("class", TF2) for name in CONTRIB_CLASSES}
    old = {"tensorflow.examples.tutorials.mnist.input_data.read_data_sets": Legacy("function", TF2)}
    return {**_estimators(), **_layers(), **_keras(), **_numpy_behaviour(), **contrib, **old}


MODULE_ALIASES = {
    "tf_keras": "keras",
    "tensorflow.keras": "keras",
    "tensorflow.python.keras": "keras",
    "tensorflow.python.keras.api": "keras",
    "tensorflow.contrib.keras": "keras",
    "tensorflow.compat.v1.keras": "keras",
    "tensorflow.compat.v2.keras": "keras",
    "tensorflow.compat.v2": "tensorflow",
    "tensorflow.compat.v1.compat.v1": "tensorflow.compat.v1",
    "tensorflow.compat.v1.compat.v2": "tensorflow",
    "tensorflow._api.v2": "tensorflow",
    "tensorflow._api.v2.v2": "tensorflow",
    "tensorflow._api.v2.compat.v1": "tensorflow.compat.v1",
    "keras._tf_keras.keras": "keras",
    "keras.api": "keras",
    "keras.api._v2.keras": "keras",
    "keras.api._v1.keras": "keras",
    "tensorflow.contrib.estimator": "tensorflow.compat.v1.estimator",
    "tensorflow_estimator.estimator": "tensorflow.estimator",
}
"""Whole modules under another name."""

OLD_KERAS_MODULES = {
    "keras.layers": """core convolutional recurrent normalization merge embeddings pooling wrappers
        advanced_activations noise local convolutional_recurrent cudnn_recurrent experimental
        experimental.preprocessing
    preprocessing
        recurrent_v2 normalization_v2 dense_attention merging reshaping attention activation regularization
    rnn
        normalization.batch_normalization normalization.layer_normalization""",
    "keras.models": """engine engine.training engine.topology engine.sequential engine.functional
        engine.network""",
    "keras.layers ": "engine.base_layer engine.input_layer",
    "keras.optimizers": """optimizer_v2 optimizers.legacy optimizers.experimental optimizer_v2.adam
        optimizer_v2.gradient_descent optimizer_v2.rmsprop optimizer_v2.optimizer_v2 optimizers_v1""",
    "keras.optimizers.schedules": "optimizer_v2.learning_rate_schedule optimizers.legacy.schedules",
    "keras.utils": """utils.np_utils utils.generic_utils utils.vis_utils utils.data_utils utils.all_utils
        utils.layer_utils""",
    "keras.initializers": "initializers.initializers_v2 initializers.initializers_v1",
}
"""Private modules of Keras 1 and 2 whose names moved up: canonical module → what people still import from."""


def module_aliases() -> dict[str, str]:
    """Every module alias, the old private modules of Keras included."""
    found = dict(MODULE_ALIASES)
    for target, olds in OLD_KERAS_MODULES.items():
        home = target.strip()
        for old in olds.split():
            inside_layers = home == "keras.layers" and not old.startswith("engine")
            found[f"keras.layers.{old}" if inside_layers else f"keras.{old}"] = home
    return found
