"""tf.train.Example: write, read, parse; ragged and sparse features; from_generator with output_signature."""
import os
import tempfile
import tensorflow as tf
import numpy as np


# The following functions can be used to convert a value to a type compatible with tf.train.Example.
def _bytes_feature(value):
    """Returns a bytes_list from a string / byte."""
    if isinstance(value, type(tf.constant(0))):
        value = value.numpy()  # BytesList won't unpack a string from an EagerTensor.
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))


def _float_feature(value):
    return tf.train.Feature(float_list=tf.train.FloatList(value=[value]))


def _int64_feature(value):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=[int(value)]))


print(_bytes_feature(b'test_string'))
feature = _float_feature(np.exp(1))
print(feature.SerializeToString())

n_observations = 20
feature0 = np.random.choice([False, True], n_observations)
feature1 = np.random.randint(0, 5, n_observations)
strings = np.array([b'cat', b'dog', b'chicken', b'horse', b'goat'])
feature2 = strings[feature1]
feature3 = np.random.randn(n_observations)


def serialize_example(feature0, feature1, feature2, feature3):
    feature = {
        'feature0': _int64_feature(feature0),
        'feature1': _int64_feature(feature1),
        'feature2': _bytes_feature(feature2),
        'feature3': _float_feature(feature3),
    }
    example_proto = tf.train.Example(features=tf.train.Features(feature=feature))
    return example_proto.SerializeToString()


serialized_example = serialize_example(False, 4, b'goat', 0.9876)
example_proto = tf.train.Example.FromString(serialized_example)
print(example_proto.features.feature['feature1'].int64_list.value)

features_dataset = tf.data.Dataset.from_tensor_slices((feature0, feature1, feature2, feature3))


def tf_serialize_example(f0, f1, f2, f3):
    tf_string = tf.py_function(serialize_example, (f0, f1, f2, f3), tf.string)
    return tf.reshape(tf_string, ())


for f0, f1, f2, f3 in features_dataset.take(1):
    print(tf_serialize_example(f0, f1, f2, f3).numpy()[:10])


def generator():
    for features in features_dataset:
        yield serialize_example(*features)


serialized_features_dataset = tf.data.Dataset.from_generator(
    generator, output_signature=tf.TensorSpec(shape=(), dtype=tf.string))
tmp = tempfile.mkdtemp()
filename = os.path.join(tmp, 'test.tfrecord')
with tf.io.TFRecordWriter(filename, tf.io.TFRecordOptions(compression_type="GZIP")) as writer:
    for record in serialized_features_dataset:
        writer.write(record.numpy())

raw_dataset = tf.data.TFRecordDataset([filename], compression_type="GZIP")
feature_description = {
    'feature0': tf.io.FixedLenFeature([], tf.int64, default_value=0),
    'feature1': tf.io.FixedLenFeature([], tf.int64, default_value=0),
    'feature2': tf.io.FixedLenFeature([], tf.string, default_value=''),
    'feature3': tf.io.VarLenFeature(tf.float32),
}


def _parse_function(example_proto):
    return tf.io.parse_single_example(example_proto, feature_description)


parsed_dataset = raw_dataset.map(_parse_function)
for parsed_record in parsed_dataset.take(2):
    print(repr(parsed_record['feature2'].numpy()), tf.sparse.to_dense(parsed_record['feature3']).numpy())
    dense = parsed_record['feature3']
    print(dense.dense_shape.numpy(), tf.sparse.reduce_sum(dense).numpy())

for raw_record in raw_dataset.take(1):
    example = tf.train.Example()
    example.ParseFromString(raw_record.numpy())
    result = {}
    for key, feature in example.features.feature.items():
        kind = feature.WhichOneof('kind')
        result[key] = np.array(getattr(feature, kind).value)
    print(result)

# sequence example
seq = tf.train.SequenceExample(
    context=tf.train.Features(feature={"length": _int64_feature(3)}),
    feature_lists=tf.train.FeatureLists(feature_list={
        "tokens": tf.train.FeatureList(feature=[_int64_feature(i) for i in (7, 8, 9)])}))
context, sequences = tf.io.parse_single_sequence_example(
    seq.SerializeToString(),
    context_features={"length": tf.io.FixedLenFeature([], tf.int64)},
    sequence_features={"tokens": tf.io.RaggedFeature(tf.int64)})
print(context["length"].numpy(), sequences["tokens"].numpy())

# ragged from generator
words = [["a"], ["b", "c"], [], ["d", "e", "f"]]
ds = tf.data.Dataset.from_generator(
    lambda: (tf.ragged.constant([w], dtype=tf.string) for w in words),
    output_signature=tf.RaggedTensorSpec(shape=(1, None), dtype=tf.string))
for r in ds.skip(1):
    print(r.row_lengths().numpy(), r.to_tensor(default_value="_").numpy())
total = ds.reduce(np.int64(0), lambda acc, r: acc + tf.cast(tf.reduce_sum(r.row_lengths()), tf.int64))
print(total.numpy())

rt = tf.RaggedTensor.from_row_splits(values=tf.range(8), row_splits=[0, 4, 4, 7, 8])
print(rt.to_list(), rt.bounding_shape().numpy(), (rt * 2).flat_values.numpy(), rt.with_values(rt.values + 1).to_tensor().numpy())
print(tf.concat([rt, rt], axis=1).nrows().numpy(), tf.map_fn(tf.reduce_sum, rt, fn_output_signature=tf.int32).numpy())
st = tf.SparseTensor(indices=[[0, 3], [2, 4]], values=[10.0, 20.0], dense_shape=[3, 5])
st2 = tf.sparse.reorder(tf.sparse.transpose(st))
print(tf.sparse.to_dense(st2).numpy().sum(), tf.sparse.sparse_dense_matmul(st, tf.ones((5, 1))).numpy())
slices = [tf.sparse.slice(st, [0, i], [3, 1]) for i in range(2)]
print(tf.sparse.concat(1, slices).shape, tf.sparse.from_dense(rt.to_tensor()).values.numpy(), st.with_values(st.values * 2).values.numpy())
batched = tf.data.Dataset.from_tensor_slices(rt).ragged_batch(2) if hasattr(tf.data.Dataset, "ragged_batch") else None
print([b.numpy() for b in batched])
os.remove(filename)
os.rmdir(tmp)
