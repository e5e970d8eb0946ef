import numpy as np
import tensorflow as tf
from tensorflow.keras.models import Sequential
from tensorflow.keras.layers import LSTM, Dense, Embedding, Bidirectional, Dropout, TimeDistributed, Conv1D, MaxPooling1D, GRU, RepeatVector

def windows(series, window, batch):
    ds = tf.data.Dataset.from_tensor_slices(series)
    ds = ds.window(window + 1, shift=1, drop_remainder=True)
    ds = ds.flat_map(lambda w: w.batch(window + 1))
    ds = ds.map(lambda w: (w[:-1], w[-1]))
    return ds.batch(batch).prefetch(1)

t = np.arange(400)
series = np.sin(t / 20).astype(np.float32) + np.random.normal(size=400).astype(np.float32)
n_steps, n_features = 10, 1
X = np.array([series[i:i + n_steps] for i in range(len(series) - n_steps)])
y = series[n_steps:]
X = X.reshape((X.shape[0], n_steps, n_features))
split = int(0.8 * len(X))
X_train, X_test = X[:split], X[split:]
y_train, y_test = y[:split], y[split:]
model = Sequential()
model.add(Bidirectional(LSTM(8, return_sequences=True), input_shape=(n_steps, n_features)))
model.add(Dropout(0.2))
model.add(LSTM(4))
model.add(Dense(1))
model.compile(optimizer="rmsprop", loss="mae")
model.fit(X_train, y_train, epochs=1, batch_size=32, verbose=0)
pred = model.predict(X_test, verbose=0)
print(np.mean(np.abs(pred.flatten() - y_test)))
rmse = tf.sqrt(tf.reduce_mean(tf.square(pred[:, 0] - y_test)))
ae = Sequential([GRU(8, input_shape=(10, 1)), RepeatVector(10), GRU(8, return_sequences=True), TimeDistributed(Dense(1))])
ae.compile("adam", "mse")
ae.fit(X_train, X_train, steps_per_epoch=3, epochs=1, verbose=0)
a = tf.constant([[1.0, 2.0], [3.0, 4.0]])
b = tf.Variable(tf.zeros([2, 2]))
b.assign_add(a @ tf.transpose(a))
c = tf.linalg.matmul(a, b, transpose_b=True)
d = tf.reduce_sum(c, axis=[0], keepdims=True)
e = tf.tile(d, [3, 1])
f = tf.pad(e, [[1, 1], [0, 2]])
g = tf.gather(f, [0, 2], axis=1)
h = tf.one_hot(tf.argmax(g, axis=-1), depth=4)
i = tf.split(h, 5)
k = tf.einsum("ij,kj->ik", h, h)
print(tf.norm(k), [tf.abs(x) for x in i][0].shape)
