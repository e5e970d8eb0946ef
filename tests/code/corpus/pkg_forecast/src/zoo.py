import tensorflow as tf

__all__ = ["Baseline", "FeedBack", "linear", "residual"]
_L = tf.keras.layers


class Baseline(tf.keras.Model):
    def __init__(self, label_index=None):
        super().__init__()
        self.label_index = label_index

    def call(self, inputs):
        if self.label_index is None:
            return inputs
        result = inputs[:, :, self.label_index]
        return result[:, :, tf.newaxis]


class ResidualWrapper(tf.keras.Model):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def call(self, inputs, *args, **kwargs):
        delta = self.model(inputs, *args, **kwargs)
        return inputs[..., 1:2] + delta


class FeedBack(tf.keras.Model):
    def __init__(self, units, out_steps):
        super().__init__()
        self.out_steps = out_steps
        self.lstm_cell = tf.keras.layers.LSTMCell(units)
        self.lstm_rnn = tf.keras.layers.RNN(self.lstm_cell, return_state=True)
        self.dense = tf.keras.layers.Dense(3)

    def warmup(self, inputs):
        x, *state = self.lstm_rnn(inputs)
        prediction = self.dense(x)
        return prediction, state

    def call(self, inputs, training=None):
        predictions = []
        prediction, state = self.warmup(inputs)
        predictions.append(prediction)
        for n in range(1, self.out_steps):
            x = prediction
            x, state = self.lstm_cell(x, states=state, training=training)
            prediction = self.dense(x)
            predictions.append(prediction)
        predictions = tf.stack(predictions)
        return tf.transpose(predictions, [1, 0, 2])


def linear():
    return tf.keras.Sequential([_L.Dense(units=1)])


def dense(width):
    return tf.keras.Sequential([*(_L.Dense(width, activation="relu") for _ in range(2)), _L.Dense(units=1)])


def lstm(width):
    return tf.keras.models.Sequential([_L.LSTM(width, return_sequences=True), _L.Dense(units=1)])


def residual():
    return ResidualWrapper(tf.keras.Sequential([
        _L.LSTM(4, return_sequences=True),
        _L.Dense(1, kernel_initializer=tf.initializers.zeros())]))
