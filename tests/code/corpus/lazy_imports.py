import os

try:
    import tf_keras as keras
except ImportError:
    from tensorflow import keras

try:
    import tensorflow as tf
except ImportError:
    tf = None

HAS_TF = tf is not None


def get_model():
    from tensorflow.keras.layers import Dense
    from tensorflow.keras.models import Sequential

    return Sequential([Dense(2), Dense(1)])


def lazily():
    global np
    import numpy as np
    import tensorflow.keras.layers

    layer = tensorflow.keras.layers.Dense(2)
    return layer(np.ones((1, 2)))


class Loader:
    def __init__(self):
        import tensorflow as backend

        self.backend = backend

    def ones(self):
        return self.backend.ones((2,))

    @property
    def layers(self):
        from tensorflow.keras import layers

        return layers


if HAS_TF:
    print(tf.zeros(2).numpy())
print(get_model()(tf.ones((1, 2))))
print(lazily().numpy(), Loader().ones().numpy())
print(Loader().layers.Dense(1)(tf.ones((1, 1))))
if os.environ.get("NOT_SET"):
    from keras.layers import Dropout as Drop
else:
    from tensorflow.keras.layers import Dropout as Drop
print(Drop(0.5)(tf.ones((1, 1))), keras.layers.ReLU()(tf.ones(1)))
