import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import backend as K
from tensorflow.keras.losses import Loss
from tensorflow.keras.metrics import Metric


class FocalLoss(Loss):
    def __init__(self, gamma=2.0, **kwargs):
        super().__init__(**kwargs)
        self.gamma = gamma
        self.bce = keras.losses.BinaryCrossentropy()

    def call(self, y_true, y_pred):
        y_pred = tf.clip_by_value(y_pred, K.epsilon(), 1.0 - K.epsilon())
        pt = tf.where(tf.equal(y_true, 1.0), y_pred, 1.0 - y_pred)
        return -tf.reduce_mean(tf.pow(1.0 - pt, self.gamma) * tf.math.log(pt)) + 0.0 * self.bce(y_true, y_pred)


class BinaryTruePositives(Metric):
    def __init__(self, name="tp", **kwargs):
        super().__init__(name=name, **kwargs)
        self.true_positives = self.add_weight(name="tp", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        values = tf.logical_and(tf.cast(y_true, tf.bool), tf.greater(y_pred, 0.5))
        self.true_positives.assign_add(tf.reduce_sum(tf.cast(values, self.dtype)))

    def result(self):
        return self.true_positives.value

    def reset_state(self):
        self.true_positives.assign(0.0)


def dice_coef(y_true, y_pred, smooth=1.0):
    intersection = K.sum(K.flatten(y_true) * K.flatten(y_pred))
    return (2.0 * intersection + smooth) / (K.sum(y_true) + K.sum(y_pred) + smooth)


def dice_loss(y_true, y_pred):
    return 1.0 - dice_coef(y_true, y_pred)


y_true, y_pred = tf.constant([[1.0], [0.0]]), tf.constant([[0.8], [0.3]])
focal = FocalLoss(gamma=1.5)
print(focal(y_true, y_pred).numpy(), dice_loss(y_true, y_pred).numpy())
metric = BinaryTruePositives()
metric.update_state(y_true, y_pred)
print(metric.result().numpy(), metric(y_true, y_pred))
metric.reset_state()
auc = keras.metrics.AUC(num_thresholds=10)
auc.update_state(y_true, y_pred)
print(auc.result().numpy())
mae = keras.losses.get("mae")
print(mae(y_true, y_pred).numpy(), keras.losses.MSE([[1.0]], [[0.0]]).numpy())
model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, activation="sigmoid", kernel_regularizer=keras.regularizers.l2(0.1))])
model.compile(optimizer="sgd", loss=FocalLoss(), metrics=[BinaryTruePositives(), dice_coef])
model.fit(np.ones((4, 1)), np.ones((4, 1)), epochs=1, verbose=0)
print(model.losses, tf.add_n(model.losses).numpy())
