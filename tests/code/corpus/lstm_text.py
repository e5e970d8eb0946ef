import re
import string

import numpy as np
import tensorflow as tf
from tensorflow.keras import losses, preprocessing
from tensorflow.keras.layers import TextVectorization, Embedding, LSTM, Bidirectional, Dense, GlobalMaxPooling1D

texts = ["a good film", "a bad film", "good good", "bad"]
labels = np.array([1, 0, 1, 0])


def custom_standardization(input_data):
    lowercase = tf.strings.lower(input_data)
    stripped = tf.strings.regex_replace(lowercase, "<br />", " ")
    return tf.strings.regex_replace(stripped, "[%s]" % re.escape(string.punctuation), "")


vectorize_layer = TextVectorization(
    standardize=custom_standardization, max_tokens=20, output_mode="int", output_sequence_length=4
)
raw_train_ds = tf.data.Dataset.from_tensor_slices((texts, labels)).batch(2)
train_text = raw_train_ds.map(lambda x, y: x)
vectorize_layer.adapt(train_text)


def vectorize_text(text, label):
    text = tf.expand_dims(text, -1)
    return vectorize_layer(text), label


train_ds = raw_train_ds.map(vectorize_text).cache().prefetch(buffer_size=1)
model = tf.keras.Sequential(
    [
        Embedding(len(vectorize_layer.get_vocabulary()) + 1, 4, mask_zero=False),
        Dense(3),
        GlobalMaxPooling1D(),
        Dense(1),
    ]
)
model.compile(loss=losses.BinaryCrossentropy(from_logits=True), optimizer="adam", metrics=["accuracy"])
model.fit(train_ds, epochs=1, verbose=0)
recurrent = Bidirectional(LSTM(2, unroll=True))(Embedding(20, 4)(vectorize_layer(tf.constant([["film"]]))))
print(recurrent.shape)
export_model = tf.keras.Sequential([vectorize_layer, model, tf.keras.layers.Activation("sigmoid")])
print(export_model(tf.constant([["a good one"]])).numpy())
padded = preprocessing.sequence.pad_sequences([[1, 2], [3]], maxlen=3)
print(padded.tolist(), tf.keras.utils.pad_sequences([[1]]).shape)
tokens = tf.strings.split("to be or not").numpy()
print(tokens, tf.strings.join(["a", "b"]).numpy().decode())
