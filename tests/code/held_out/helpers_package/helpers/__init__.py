import tensorflow as _tf

__version__ = "1.0"
seed = _tf.random.set_seed
seed(3)
