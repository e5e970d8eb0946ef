import tensorflow as tf


def accuracy(y_true, y_pred):
    m = tf.keras.metrics.Accuracy()
    m.update_state(y_true, y_pred)
    return m.result()
