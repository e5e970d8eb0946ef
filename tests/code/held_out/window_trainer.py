# Kaggle-like time series script: window generator with property datasets and a pile of models in a dict
import tensorflow as tf, numpy as np
import datetime as dt
from collections import OrderedDict

np.random.seed(0)
N = 120
date_time = [dt.datetime(2020, 1, 1) + dt.timedelta(hours=i) for i in range(N)]
T = np.sin(np.arange(N) / 5.0) + np.random.randn(N) * .1
P = np.cos(np.arange(N) / 7.0)
df = np.stack([T, P, np.sqrt(np.abs(T))], axis=1).astype("float32")
columns = ["T", "P", "root"]
column_indices = {name: i for i, name in enumerate(columns)}
n = len(df)
train_df, val_df, test_df = df[0:int(n*0.7)], df[int(n*0.7):int(n*0.9)], df[int(n*0.9):]
num_features = df.shape[1]
train_mean, train_std = train_df.mean(0), train_df.std(0)
train_df, val_df, test_df = [(d - train_mean) / train_std for d in (train_df, val_df, test_df)]
MAX_EPOCHS = 1


class WindowGenerator():
    def __init__(self, input_width, label_width, shift,
                 train_df=train_df, val_df=val_df, test_df=test_df, label_columns=None):
        self.train_df = train_df
        self.val_df = val_df
        self.test_df = test_df
        self.label_columns = label_columns
        if label_columns is not None:
            self.label_columns_indices = {name: i for i, name in enumerate(label_columns)}
        self.column_indices = {name: i for i, name in enumerate(columns)}
        self.input_width = input_width
        self.label_width = label_width
        self.shift = shift
        self.total_window_size = input_width + shift
        self.input_slice = slice(0, input_width)
        self.label_start = self.total_window_size - self.label_width
        self.labels_slice = slice(self.label_start, None)

    def __repr__(self):
        return '\n'.join([
            f'Total window size: {self.total_window_size}',
            f'Label column name(s): {self.label_columns}'])


def split_window(self, features):
    inputs = features[:, self.input_slice, :]
    labels = features[:, self.labels_slice, :]
    if self.label_columns is not None:
        labels = tf.stack([labels[:, :, self.column_indices[name]] for name in self.label_columns], axis=-1)
    inputs.set_shape([None, self.input_width, None])
    labels.set_shape([None, self.label_width, None])
    return inputs, labels


WindowGenerator.split_window = split_window


def make_dataset(self, data):
    data = np.array(data, dtype=np.float32)
    ds = tf.keras.utils.timeseries_dataset_from_array(
        data=data, targets=None, sequence_length=self.total_window_size, sequence_stride=1, shuffle=True, batch_size=16,)
    ds = ds.map(self.split_window)
    return ds


WindowGenerator.make_dataset = make_dataset


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


WindowGenerator.train = train
WindowGenerator.val = val
WindowGenerator.example = example


def plot(self, model=None, plot_col='T', max_subplots=3):
    inputs, labels = self.example
    plot_col_index = self.column_indices[plot_col]
    lines = []
    for n in range(min(max_subplots, len(inputs))):
        lines.append(inputs[n, :, plot_col_index].numpy().mean())
        if model is not None:
            predictions = model(inputs)
            lines.append(predictions[n, :, 0].numpy())
    print(len(lines), labels.shape)


WindowGenerator.plot = plot

single_step_window = WindowGenerator(input_width=1, label_width=1, shift=1, label_columns=['T'])
wide_window = WindowGenerator(input_width=12, label_width=12, shift=1, label_columns=['T'])
print(wide_window)
for example_inputs, example_labels in single_step_window.train.take(1):
    print(f'Inputs shape (batch, time, features): {example_inputs.shape}')
    print(f'Labels: {example_labels.numpy().ravel()[:2]}')
print(single_step_window.train.element_spec)


class Baseline(tf.keras.Model):
    def __init__(self, label_index=None):
        super().__init__()
        self.label_index = label_index

    def call(self, inputs):
        if self.label_index is None:
            return inputs
        result = inputs[:, :, self.label_index]
        return result[:, :, tf.newaxis]


def compile_and_fit(model, window, patience=2):
    early_stopping = tf.keras.callbacks.EarlyStopping(monitor='val_loss', patience=patience, mode='min')
    model.compile(loss=tf.keras.losses.MeanSquaredError(),
                  optimizer=tf.keras.optimizers.Adam(),
                  metrics=[tf.keras.metrics.MeanAbsoluteError()])
    history = model.fit(window.train, epochs=MAX_EPOCHS, validation_data=window.val, callbacks=[early_stopping], verbose=0)
    return history


class ResidualWrapper(tf.keras.Model):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def call(self, inputs, *args, **kwargs):
        delta = self.model(inputs, *args, **kwargs)
        return inputs[:, :, :1] + delta


class FeedBack(tf.keras.Model):
    def __init__(self, units, out_steps):
        super().__init__()
        self.out_steps = out_steps
        self.units = units
        self.lstm_cell = tf.keras.layers.LSTMCell(units)
        self.lstm_rnn = tf.keras.layers.RNN(self.lstm_cell, return_state=True)
        self.dense = tf.keras.layers.Dense(num_features)

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
        predictions = tf.transpose(predictions, [1, 0, 2])
        return predictions


val_performance, performance = {}, OrderedDict()
candidates = {
    'Linear': tf.keras.Sequential([tf.keras.layers.Dense(units=1)]),
    'Dense': tf.keras.Sequential([tf.keras.layers.Dense(8, activation='relu'), tf.keras.layers.Dense(units=1)]),
    'Residual LSTM': ResidualWrapper(tf.keras.Sequential([
        tf.keras.layers.LSTM(4, return_sequences=True),
        tf.keras.layers.Dense(1, kernel_initializer=tf.initializers.zeros())])),
}
baseline = Baseline(label_index=column_indices['T'])
baseline.compile(loss=tf.keras.losses.MeanSquaredError(), metrics=[tf.keras.metrics.MeanAbsoluteError()])
val_performance['Baseline'] = baseline.evaluate(single_step_window.val, return_dict=True, verbose=0)
for name, model in candidates.items():
    history = compile_and_fit(model, wide_window)
    val_performance[name] = model.evaluate(wide_window.val, return_dict=True, verbose=0)
    print('%-15s: %0.4f' % (name, val_performance[name]['mean_absolute_error']))
wide_window.plot(candidates['Linear'])
wide_window.plot()
feedback_model = FeedBack(units=4, out_steps=3)
prediction, state = feedback_model.warmup(wide_window.example[0])
print(prediction.shape, [s.numpy().shape for s in state])
print('Output shape (batch, time, features): ', feedback_model(wide_window.example[0]).shape)
feedback_model.compile('adam', 'mse')
feedback_model.fit(WindowGenerator(4, 3, 3).train, epochs=1, verbose=0)
best = min((k for k in val_performance), key=lambda k: val_performance[k]['loss'])
print(best, candidates.get(best, baseline).count_params())
