"""What TensorFlow does with functions and structures of the program: loops, branches, records, replicas."""

from __future__ import annotations


def test_loops_keep_the_structure_of_their_variables(apis_of):
    assert apis_of(
        """
        import tensorflow as tf
        def body(i, acc):
            return i + 1, acc.write(i, 1.0)
        _, acc = tf.while_loop(lambda i, acc: i < 3, body, (0, tf.TensorArray(tf.float32, 3)))
        acc.stack().numpy()
        """
    ) == [
        (3, "tensorflow.TensorArray.write"),
        (4, "tensorflow.while_loop"),
        (4, "tensorflow.TensorArray"),
        (5, "tensorflow.Tensor.numpy"),
        (5, "tensorflow.TensorArray.stack"),
    ]


def test_branches_give_what_their_functions_give(apis_of):
    assert apis_of(
        """
        import tensorflow as tf
        array = tf.TensorArray(tf.float32, 3)
        tf.cond(tf.constant(True), lambda: array, lambda: array.write(0, 1.0)).stack()
        tf.switch_case(1, [lambda: tf.ones(1), lambda: tf.zeros(1)]).numpy()
        tf.case([(tf.constant(True), lambda: tf.eye(1))], default=lambda: tf.eye(2)).numpy()
        """
    ) == [
        (2, "tensorflow.TensorArray"),
        (3, "tensorflow.TensorArray.stack"),
        (3, "tensorflow.cond"),
        (3, "tensorflow.constant"),
        (3, "tensorflow.TensorArray.write"),
        (4, "tensorflow.Tensor.numpy"),
        (4, "tensorflow.switch_case"),
        (4, "tensorflow.ones"),
        (4, "tensorflow.zeros"),
        (5, "tensorflow.Tensor.numpy"),
        (5, "tensorflow.case"),
        (5, "tensorflow.constant"),
        (5, "tensorflow.eye"),
        (5, "tensorflow.eye"),
    ]


def test_records_are_parsed_into_the_kinds_that_are_described(apis_of):
    assert apis_of(
        """
        import tensorflow as tf
        described = {"a": tf.io.FixedLenFeature([], tf.int64), "b": tf.io.VarLenFeature(tf.int64)}
        records = tf.data.TFRecordDataset("file").map(lambda record: tf.io.parse_single_example(record, described))
        for record in records:
            record["a"].numpy()
            record["b"].with_values([1])
        context, sequence = tf.io.parse_single_sequence_example(
            "", sequence_features={"t": tf.io.RaggedFeature(tf.int64)})
        (sequence["t"] * 2).row_lengths()
        """
    ) == [
        (2, "tensorflow.io.FixedLenFeature"),
        (2, "tensorflow.io.VarLenFeature"),
        (3, "tensorflow.data.TFRecordDataset.map"),
        (3, "tensorflow.data.TFRecordDataset"),
        (3, "tensorflow.io.parse_single_example"),
        (5, "tensorflow.Tensor.numpy"),
        (6, "tensorflow.sparse.SparseTensor.with_values"),
        (7, "tensorflow.io.parse_single_sequence_example"),
        (8, "tensorflow.io.RaggedFeature"),
        (9, "tensorflow.RaggedTensor.row_lengths"),
    ]


def test_functions_that_wait_and_contexts_of_replicas(apis_of):
    assert apis_of(
        """
        import tensorflow as tf
        @tf.numpy_function(Tout=tf.float32)
        def step(action): return action
        step(1).set_shape([1])
        strategy = tf.distribute.MirroredStrategy()
        def data(context):
            return tf.data.Dataset.range(context.get_per_replica_batch_size(8))
        for x in strategy.distribute_datasets_from_function(data):
            x.numpy()
        tf.distribute.get_replica_context().all_reduce("SUM", 1).numpy()
        """
    ) == [
        (2, "tensorflow.numpy_function"),
        (4, "tensorflow.Tensor.set_shape"),
        (5, "tensorflow.distribute.MirroredStrategy"),
        (7, "tensorflow.data.Dataset.range"),
        (7, "tensorflow.distribute.InputContext.get_per_replica_batch_size"),
        (8, "tensorflow.distribute.MirroredStrategy.distribute_datasets_from_function"),
        (9, "tensorflow.Tensor.numpy"),
        (10, "tensorflow.Tensor.numpy"),
        (10, "tensorflow.distribute.ReplicaContext.all_reduce"),
        (10, "tensorflow.distribute.get_replica_context"),
    ]


def test_the_input_of_a_model_is_no_layer_of_it_and_a_compiled_layer_is_the_programs_own(apis_of):
    assert apis_of(
        """
        import keras, tensorflow as tf
        model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1), keras.layers.ReLU()])
        model.layers[0].count_params()
        compiled = tf.function(model.layers[1])
        compiled(1).numpy()
        keras.applications.vgg16.preprocess_input(tf.ones(1)).numpy()
        """
    ) == [
        (2, "keras.Sequential"),
        (2, "keras.layers.Input"),
        (2, "keras.layers.Dense"),
        (2, "keras.layers.ReLU"),
        (3, "keras.layers.Dense.count_params"),
        (4, "tensorflow.function"),
        (5, "tensorflow.Tensor.numpy"),
        (6, "tensorflow.Tensor.numpy"),
        (6, "keras.applications.vgg16.preprocess_input"),
        (6, "tensorflow.ones"),
    ]
