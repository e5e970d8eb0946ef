import numpy as np
import tensorflow as tf

from .series import load


class WindowGenerator():
    def __init__(self, input_width, label_width, shift, frame=None):
        frame = load() if frame is None else frame
        n = len(frame)
        self.train_df, self.val_df = frame[:int(n * 0.7)], frame[int(n * 0.7):]
        self.input_width = input_width
        self.label_width = label_width
        self.shift = shift
        self.total_window_size = input_width + shift
        self.input_slice = slice(0, input_width)
        self.label_start = self.total_window_size - self.label_width
        self.labels_slice = slice(self.label_start, None)

    def __repr__(self):
        return '\n'.join([f'Total window size: {self.total_window_size}', f'Shift: {self.shift}'])

    def split_window(self, features):
        inputs = features[:, self.input_slice, :]
        labels = features[:, self.labels_slice, :]
        labels = tf.stack([labels[:, :, i] for i in (1,)], axis=-1)
        inputs.set_shape([None, self.input_width, None])
        labels.set_shape([None, self.label_width, None])
        return inputs, labels

    def make_dataset(self, data):
        data = np.array(data, dtype=np.float32)
        ds = tf.keras.utils.timeseries_dataset_from_array(
            data=data, targets=None, sequence_length=self.total_window_size, sequence_stride=1, shuffle=True,
            batch_size=8)
        ds = ds.map(self.split_window)
        return ds

    @property
    def train(self):
        return self.make_dataset(self.train_df)

    @property
    def val(self):
        return self.make_dataset(self.val_df)

    @property
    def example(self):
        """Get and cache an example batch of `inputs, labels` for plotting."""
        result = getattr(self, '_example', None)
        if result is None:
            result = next(iter(self.train))
            self._example = result
        return result
