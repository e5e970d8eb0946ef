"""CTC training with a custom layer, decoding, edit distance and batches padded by hand."""
import logging
import string
import sys

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

logging.basicConfig(stream=sys.stderr, level=logging.ERROR)
characters = list(string.ascii_lowercase[:6])
char_to_num = layers.StringLookup(vocabulary=characters, mask_token=None)
num_to_char = layers.StringLookup(vocabulary=char_to_num.get_vocabulary(), mask_token=None, invert=True)
print(f"The vocabulary is: {char_to_num.get_vocabulary()} (size={char_to_num.vocabulary_size()})")
WORDS = ["abc", "fed", "cab", "bad", "ace", "dab", "fab", "bed"]


def encode_single_sample(word):
    label = tf.strings.lower(word)
    label = tf.strings.unicode_split(label, input_encoding="UTF-8")
    label = char_to_num(label)
    frames = tf.repeat(tf.one_hot(label, 8), repeats=4, axis=0)
    frames = frames + tf.random.normal(tf.shape(frames), stddev=0.1)
    means = tf.math.reduce_mean(frames, 1, keepdims=True)
    stddevs = tf.math.reduce_std(frames, 1, keepdims=True)
    return (frames - means) / (stddevs + 1e-10), label


train_dataset = tf.data.Dataset.from_tensor_slices(WORDS[:6])
train_dataset = (
    train_dataset.map(encode_single_sample, num_parallel_calls=tf.data.AUTOTUNE)
    .padded_batch(2)
    .prefetch(buffer_size=tf.data.AUTOTUNE)
)
validation_dataset = tf.data.Dataset.from_tensor_slices(WORDS[6:]).map(encode_single_sample).padded_batch(2)
for batch in train_dataset.take(1):
    spectrogram = batch[0][0].numpy()
    label = batch[1][0]
    label = tf.strings.reduce_join(num_to_char(label)).numpy().decode("utf-8")
    print(label, spectrogram.shape)


def CTCLoss(y_true, y_pred):
    batch_len = tf.cast(tf.shape(y_true)[0], dtype="int64")
    input_length = tf.cast(tf.shape(y_pred)[1], dtype="int64")
    label_length = tf.cast(tf.shape(y_true)[1], dtype="int64")
    input_length = input_length * tf.ones(shape=(batch_len,), dtype="int64")
    label_length = label_length * tf.ones(shape=(batch_len,), dtype="int64")
    loss = tf.nn.ctc_loss(
        labels=tf.cast(y_true, tf.int32), logits=tf.transpose(y_pred, [1, 0, 2]), label_length=tf.cast(label_length, tf.int32),
        logit_length=tf.cast(input_length, tf.int32), blank_index=-1)
    return tf.reduce_mean(loss)


def build_model(input_dim, output_dim, rnn_layers=1, rnn_units=6):
    input_spectrogram = layers.Input((None, input_dim), name="input")
    x = layers.Reshape((-1, input_dim, 1), name="expand_dim")(input_spectrogram)
    x = layers.Conv2D(filters=2, kernel_size=[3, 3], strides=[1, 2], padding="same", use_bias=False, name="conv_1")(x)
    x = layers.BatchNormalization(name="conv_1_bn")(x)
    x = layers.ReLU(name="conv_1_relu")(x)
    x = layers.Reshape((-1, x.shape[-2] * x.shape[-1]))(x)
    for i in range(1, rnn_layers + 1):
        recurrent = layers.GRU(units=rnn_units, return_sequences=True, name=f"gru_{i}", reset_after=True)
        x = layers.Bidirectional(recurrent, name=f"bidirectional_{i}", merge_mode="concat")(x)
        if i < rnn_layers:
            x = layers.Dropout(rate=0.5)(x)
    x = layers.Dense(units=rnn_units * 2, name="dense_1")(x)
    output = layers.Dense(units=output_dim + 1, activation=None)(layers.Dropout(rate=0.1)(x))
    model = keras.Model(input_spectrogram, output, name="DeepSpeech_2")
    opt = keras.optimizers.Adam(learning_rate=1e-4)
    model.compile(optimizer=opt, loss=CTCLoss)
    return model


model = build_model(input_dim=8, output_dim=char_to_num.vocabulary_size())
model.summary(line_length=110, print_fn=logging.debug)


def decode_batch_predictions(pred):
    input_len = np.ones(pred.shape[0]) * pred.shape[1]
    time_major = tf.transpose(pred, [1, 0, 2])
    results, log_probabilities = tf.nn.ctc_greedy_decoder(time_major, tf.cast(input_len, tf.int32))
    dense = tf.sparse.to_dense(results[0], default_value=0)
    output_text = []
    for result in dense:
        result = tf.strings.reduce_join(num_to_char(result)).numpy().decode("utf-8")
        output_text.append(result)
    print(log_probabilities.numpy().shape)
    return output_text


class CallbackEval(keras.callbacks.Callback):
    """Displays a batch of outputs after every epoch."""

    def __init__(self, dataset):
        super().__init__()
        self.dataset = dataset

    def on_epoch_end(self, epoch: int, logs=None):
        predictions, targets = [], []
        for batch in self.dataset:
            X, y = batch
            batch_predictions = self.model.predict(X, verbose=0)
            batch_predictions = decode_batch_predictions(batch_predictions)
            predictions.extend(batch_predictions)
            for label in y:
                label = tf.strings.reduce_join(num_to_char(label)).numpy().decode("utf-8")
                targets.append(label)
        hypothesis = tf.strings.bytes_split(tf.constant(predictions)).to_sparse()
        truth = tf.strings.bytes_split(tf.constant(targets)).to_sparse()
        distance = tf.edit_distance(hypothesis, truth, normalize=False)
        print(f"mean distance {tf.reduce_mean(distance).numpy():.2f}")


validation_callback = CallbackEval(validation_dataset)
history = model.fit(train_dataset, validation_data=validation_dataset, epochs=1, callbacks=[validation_callback], verbose=0)
predictions = model.predict(validation_dataset, verbose=0)
beams, scores = tf.nn.ctc_beam_search_decoder(tf.transpose(predictions, [1, 0, 2]), [predictions.shape[1]] * 2, beam_width=4)
print([tf.sparse.to_dense(b).shape for b in beams], scores.numpy().shape, sorted(history.history))
lengths = tf.reduce_sum(tf.cast(tf.not_equal(tf.argmax(predictions, -1), 0), tf.int32), axis=1)
print(lengths.numpy(), tf.sequence_mask(lengths, maxlen=12).shape)
