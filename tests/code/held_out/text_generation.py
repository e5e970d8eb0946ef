import os, time
import numpy as np
import tensorflow as tf

text = "First Citizen: Before we proceed any further, hear me speak. All: Speak, speak. " * 4
vocab = sorted(set(text))
print(f'{len(vocab)} unique characters')
chars = tf.strings.unicode_split(["abc", "hear"], input_encoding='UTF-8')
ids_from_chars = tf.keras.layers.StringLookup(vocabulary=list(vocab), mask_token=None)
ids = ids_from_chars(chars)
chars_from_ids = tf.keras.layers.StringLookup(vocabulary=ids_from_chars.get_vocabulary(), invert=True, mask_token=None)


def text_from_ids(ids):
    return tf.strings.reduce_join(chars_from_ids(ids), axis=-1)


print(text_from_ids(ids).numpy())
all_ids = ids_from_chars(tf.strings.unicode_split(text, 'UTF-8'))
ids_dataset = tf.data.Dataset.from_tensor_slices(all_ids)
for i in ids_dataset.take(3):
    print(chars_from_ids(i).numpy().decode('utf-8'))
seq_length = 10
sequences = ids_dataset.batch(seq_length + 1, drop_remainder=True)


def split_input_target(sequence):
    return sequence[:-1], sequence[1:]


dataset = sequences.map(split_input_target).shuffle(100).batch(4, drop_remainder=True).prefetch(tf.data.experimental.AUTOTUNE)
for input_example, target_example in sequences.map(split_input_target).take(1):
    print("Input :", text_from_ids(input_example).numpy())


class MyModel(tf.keras.Model):
    def __init__(self, vocab_size, embedding_dim, rnn_units):
        super().__init__()
        self.embedding = tf.keras.layers.Embedding(vocab_size, embedding_dim)
        self.gru = tf.keras.layers.GRU(rnn_units, return_sequences=True, return_state=True)
        self.dense = tf.keras.layers.Dense(vocab_size)

    def call(self, inputs, states=None, return_state=False, training=False):
        x = inputs
        x = self.embedding(x, training=training)
        if states is None:
            states = self.gru.get_initial_state(tf.shape(x)[0])
        x, states = self.gru(x, initial_state=states, training=training)
        x = self.dense(x, training=training)
        if return_state:
            return x, states
        return x


model = MyModel(len(ids_from_chars.get_vocabulary()), 8, 16)
for input_example_batch, target_example_batch in dataset.take(1):
    example_batch_predictions = model(input_example_batch)
    print(example_batch_predictions.shape)
sampled_indices = tf.random.categorical(example_batch_predictions[0], num_samples=1)
sampled_indices = tf.squeeze(sampled_indices, axis=-1).numpy()
loss = tf.losses.SparseCategoricalCrossentropy(from_logits=True)
mean_loss = loss(target_example_batch, example_batch_predictions)
print(tf.exp(mean_loss).numpy(), text_from_ids(sampled_indices).numpy())
model.compile(optimizer='adam', loss=loss)
history = model.fit(dataset, epochs=1, verbose=0)


class OneStep(tf.keras.Model):
    def __init__(self, model, chars_from_ids, ids_from_chars, temperature=1.0):
        super().__init__()
        self.temperature = temperature
        self.model = model
        self.chars_from_ids = chars_from_ids
        self.ids_from_chars = ids_from_chars
        skip_ids = self.ids_from_chars(['[UNK]'])[:, None]
        sparse_mask = tf.SparseTensor(values=[-float('inf')] * len(skip_ids), indices=skip_ids,
                                      dense_shape=[len(ids_from_chars.get_vocabulary())])
        self.prediction_mask = tf.sparse.to_dense(sparse_mask)

    @tf.function
    def generate_one_step(self, inputs, states=None):
        input_chars = tf.strings.unicode_split(inputs, 'UTF-8')
        input_ids = self.ids_from_chars(input_chars).to_tensor()
        predicted_logits, states = self.model(inputs=input_ids, states=states, return_state=True)
        predicted_logits = predicted_logits[:, -1, :]
        predicted_logits = predicted_logits / self.temperature
        predicted_logits = predicted_logits + self.prediction_mask
        predicted_ids = tf.random.categorical(predicted_logits, num_samples=1)
        predicted_ids = tf.squeeze(predicted_ids, axis=-1)
        return self.chars_from_ids(predicted_ids), states


one_step_model = OneStep(model, chars_from_ids, ids_from_chars)
states = None
next_char = tf.constant(['hear'])
result = [next_char]
for n in range(3):
    next_char, states = one_step_model.generate_one_step(next_char, states=states)
    result.append(next_char)
result = tf.strings.join(result)
print(result[0].numpy().decode('utf-8'))


class CustomTraining(MyModel):
    @tf.function
    def train_step(self, inputs):
        inputs, labels = inputs
        with tf.GradientTape() as tape:
            predictions = self(inputs, training=True)
            loss = self.loss(labels, predictions)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {'loss': loss}


model = CustomTraining(len(ids_from_chars.get_vocabulary()), 8, 16)
model.compile(optimizer=tf.keras.optimizers.Adam(), loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
mean = tf.metrics.Mean()
for (batch_n, (inp, target)) in enumerate(dataset.take(2)):
    logs = model.train_step([inp, target])
    mean.update_state(logs['loss'])
    print(f"Batch {batch_n} Loss {logs['loss']:.4f}")
print(f'{mean.result().numpy():.4f}')
