"""An input pipeline: sensor readings written to a temporary file, read, cleaned, batched and summed up by tf.data."""

import os
import tempfile
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import tensorflow as tf

ROWS = 20_000
FEATURES = 8


def write_readings(path: Path) -> None:
    """A TFRecord file with one serialised row per record."""
    readings = tf.random.stateless_uniform((ROWS, FEATURES), seed=(1, 1))
    with tf.io.TFRecordWriter(str(path)) as writer:
        for row in readings.numpy():
            writer.write(row.tobytes())


def decode(record: tf.Tensor) -> tf.Tensor:
    return tf.reshape(tf.io.decode_raw(record, tf.float32), [FEATURES])


def scale(row: tf.Tensor) -> tf.Tensor:
    return row * 2.0 - 1.0


def open_pipeline(path: Path) -> tf.data.Dataset:
    readings = tf.data.TFRecordDataset(str(path)).map(decode)
    return readings.map(scale).batch(64)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "readings.tfrecord"
        write_readings(path)
        pipeline = open_pipeline(path)
        for epoch in range(3):
            total = tf.zeros([FEATURES])
            for batch in pipeline:
                total += tf.reduce_sum(batch, axis=0)
            print(f"epoch {epoch}: mean {float(tf.reduce_mean(total / ROWS)):+.2f}")
        print("batches", len(list(pipeline)))

        largest = tf.zeros([])
        for batch in pipeline.take(50):
            largest = tf.maximum(largest, tf.sort(tf.reduce_sum(batch, axis=1))[..., -1])
        print("largest row sum over 3:", bool(largest > 3.0))


if __name__ == "__main__":
    main()
