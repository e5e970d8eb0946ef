import tensorflow as tf

from . import transforms as T
from .synth import SyntheticBoxes

OFFSETS = {"train": 0, "val": 100}


def make_loader(cfg, split):
    source = SyntheticBoxes(cfg, offset=OFFSETS[split])
    signature = (
        tf.TensorSpec((cfg.size, cfg.size, 3), tf.float32),
        {"box": tf.TensorSpec((4,), tf.float32), "label": tf.TensorSpec((), tf.int64)},
    )
    ds = tf.data.Dataset.from_generator(source, output_signature=signature)
    if split == "train":
        ds = ds.map(T.Compose([T.flip, T.Brightness(0.1)]), num_parallel_calls=tf.data.AUTOTUNE).shuffle(8)
    return ds.batch(cfg.batch).prefetch(1)
