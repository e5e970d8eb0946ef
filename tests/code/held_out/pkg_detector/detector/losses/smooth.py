import keras
from keras import ops


class SmoothBox(keras.losses.Loss):
    def __init__(self, beta=0.5, **kwargs):
        super().__init__(**kwargs)
        self.beta = beta

    def call(self, y_true, y_pred):
        d = ops.abs(y_true - y_pred)
        return ops.sum(ops.where(d < self.beta, 0.5 * ops.square(d) / self.beta, d - 0.5 * self.beta), axis=-1)
