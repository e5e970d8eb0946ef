import numpy as np
import tensorflow as tf


class WindowGenerator:
    def __init__(self, input_width, label_width, shift, data):
        self.data = data
        self.input_width = input_width
        self.label_width = label_width
        self.total_window_size = input_width + shift
        self._example = None

    def split_window(self, features):
        inputs = features[:, : self.input_width, :]
        labels = tf.stack([features[:, -self.label_width :, 0]], axis=-1)
        inputs.set_shape([None, self.input_width, None])
        return inputs, labels

    def make_dataset(self, data):
        ds = tf.keras.utils.timeseries_dataset_from_array(
            data=data, targets=None, sequence_length=self.total_window_size, shuffle=True, batch_size=4
        )
        ds = ds.map(self.split_window)
        return ds

    @property
    def train(self):
        return self.make_dataset(self.data)

    @property
    def example(self):
        result = getattr(self, "_example", None)
        if result is None:
            result = next(iter(self.train))
            self._example = result
        return result


class Baseline(tf.keras.Model):
    def __init__(self, label_index=None):
        super().__init__()
        self.label_index = label_index

    def call(self, inputs):
        if self.label_index is None:
            return inputs
        return inputs[:, -1:, self.label_index, tf.newaxis]


def compile_and_fit(model, window, patience=2):
    early_stopping = tf.keras.callbacks.EarlyStopping(monitor="loss", patience=patience, mode="min")
    model.compile(loss=tf.keras.losses.MeanSquaredError(), optimizer=tf.keras.optimizers.Adam())
    return model.fit(window.train, epochs=1, verbose=0, callbacks=[early_stopping])


window = WindowGenerator(4, 1, 1, np.random.rand(20, 2).astype("float32"))
inputs, labels = window.example
print(inputs.shape, labels.numpy().shape)
baseline = Baseline(label_index=0)
baseline.compile(loss=tf.keras.losses.MeanSquaredError())
performance = {"baseline": baseline.evaluate(window.train, verbose=0)}
lstm_model = tf.keras.models.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(1), tf.keras.layers.Reshape([1, 1])])
history = compile_and_fit(lstm_model, window)
performance["lstm"] = lstm_model.evaluate(window.train, verbose=0)
for batch_inputs, batch_labels in window.train.take(1):
    print(lstm_model(batch_inputs).shape, batch_labels.shape)
print(performance, history.epoch)
