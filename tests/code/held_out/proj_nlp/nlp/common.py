"""One place that decides which Keras is used."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf
try:
    import keras as K
except ImportError:
    from tensorflow import keras as K
L = K.layers
AUTOTUNE = tf.data.AUTOTUNE


def maybe_function(enabled=True, **options):
    return tf.function(**options) if enabled else (lambda f: f)
