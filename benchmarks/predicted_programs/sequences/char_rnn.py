"""Next character: logits at every place."""
import tensorflow as tf

VOCAB, SEQ, BATCH = 66, 40, 32
text = tf.random.uniform((SEQ * BATCH * 25 + 1,), maxval=VOCAB, dtype=tf.int32)
sequences = tf.data.Dataset.from_tensor_slices(text).batch(SEQ + 1, drop_remainder=True)
dataset = sequences.map(lambda s: (s[:-1], s[1:])).shuffle(100).batch(BATCH, drop_remainder=True)


class CharModel(tf.keras.Model):
    def __init__(self, vocab, width, units):
        super().__init__()
        self.embedding = tf.keras.layers.Embedding(vocab, width)
        self.gru = tf.keras.layers.GRU(units, return_sequences=True)
        self.dense = tf.keras.layers.Dense(vocab)

    def call(self, inputs):
        return self.dense(self.gru(self.embedding(inputs)))


model = CharModel(VOCAB, 48, 96)
model.compile(optimizer="adam", loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(dataset, epochs=3, verbose=0)
