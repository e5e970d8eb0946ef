import os
import tempfile

import numpy as np
import tensorflow as tf


def _bytes_feature(value):
    if isinstance(value, type(tf.constant(0))):
        value = value.numpy()
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))


def _float_feature(value):
    return tf.train.Feature(float_list=tf.train.FloatList(value=[value]))


def _int64_feature(value):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=[value]))


def serialize_example(i, f, s):
    feature = {"i": _int64_feature(i), "f": _float_feature(f), "s": _bytes_feature(s)}
    proto = tf.train.Example(features=tf.train.Features(feature=feature))
    return proto.SerializeToString()


feature_description = {
    "i": tf.io.FixedLenFeature([], tf.int64, default_value=0),
    "f": tf.io.FixedLenFeature([], tf.float32),
    "s": tf.io.FixedLenFeature([], tf.string),
}


def _parse_function(example_proto):
    return tf.io.parse_single_example(example_proto, feature_description)


filename = os.path.join(tempfile.mkdtemp(), "data.tfrecord")
with tf.io.TFRecordWriter(filename) as writer:
    for n in range(4):
        writer.write(serialize_example(n, float(n) / 2, tf.constant("text").numpy()))

raw_dataset = tf.data.TFRecordDataset(filename)
for raw_record in raw_dataset.take(1):
    example = tf.train.Example()
    example.ParseFromString(raw_record.numpy())
    print(example.features.feature["i"].int64_list.value[0])
    print(tf.train.Example.FromString(raw_record.numpy()).ByteSize())
parsed = raw_dataset.map(_parse_function)
for record in parsed.batch(2):
    print(record["i"].numpy(), tf.reduce_sum(record["f"]).numpy())
batched = raw_dataset.batch(2).map(lambda b: tf.io.parse_example(b, feature_description))
print(next(iter(batched))["s"].numpy(), tf.io.gfile.exists(filename), tf.io.gfile.glob(filename))
serial = tf.io.serialize_tensor(tf.constant(np.eye(2)))
print(tf.io.parse_tensor(serial, tf.float64).numpy())
with tf.io.gfile.GFile(filename + ".txt", "w") as handle:
    handle.write("done")
