import io
import itertools
import os
import re
import string

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

SEED = 42
AUTOTUNE = tf.data.AUTOTUNE
sentence = "The wide road shimmered in the hot sun"
tokens = list(sentence.lower().split())
vocab, index = {}, 1
vocab['<pad>'] = 0
for token in tokens:
    if token not in vocab:
        vocab[token] = index
        index += 1
vocab_size = len(vocab)
inverse_vocab = {index: token for token, index in vocab.items()}
example_sequence = [vocab[word] for word in tokens]

positive_skip_grams = [(target, context) for i, target in enumerate(example_sequence)
                       for j, context in enumerate(example_sequence) if 0 < abs(i - j) <= 2]
target_word, context_word = positive_skip_grams[0]
num_ns = 4
context_class = tf.reshape(tf.constant(context_word, dtype="int64"), (1, 1))
negative_sampling_candidates, _, _ = tf.random.log_uniform_candidate_sampler(
    true_classes=context_class, num_true=1, num_sampled=num_ns, unique=True, range_max=vocab_size, seed=SEED,
    name="negative_sampling")
print([inverse_vocab[index.numpy()] for index in negative_sampling_candidates])

squeezed_context_class = tf.squeeze(context_class, 1)
context = tf.concat([squeezed_context_class, negative_sampling_candidates], 0)
label = tf.constant([1] + [0] * num_ns, dtype="int64")
target = target_word
print(f"target_index    : {target}", f"context_indices : {context}", f"label           : {label}")


def generate_training_data(sequences, window_size, num_ns, vocab_size, seed):
    targets, contexts, labels = [], [], []
    for sequence in sequences:
        pairs = ((a, b) for a, b in itertools.permutations(sequence[:window_size * 2], 2))
        for target_word, context_word in pairs:
            context_class = tf.expand_dims(tf.constant([context_word], dtype="int64"), 1)
            negative_sampling_candidates, _, _ = tf.random.log_uniform_candidate_sampler(
                true_classes=context_class, num_true=1, num_sampled=num_ns, unique=True, range_max=vocab_size,
                seed=seed, name="negative_sampling")
            context = tf.concat([tf.squeeze(context_class, 1), negative_sampling_candidates], 0)
            label = tf.constant([1] + [0] * num_ns, dtype="int64")
            targets.append(target_word)
            contexts.append(context)
            labels.append(label)
    return targets, contexts, labels


path_to_file = 'shakespeare.txt'
with open(path_to_file, 'w') as f:
    f.write("First citizen:\nBefore we proceed any further, hear me speak.\n\nAll:\nSpeak, speak.\n" * 3)
text_ds = tf.data.TextLineDataset(path_to_file).filter(lambda x: tf.cast(tf.strings.length(x), bool))


def custom_standardization(input_data):
    lowercase = tf.strings.lower(input_data)
    return tf.strings.regex_replace(lowercase, '[%s]' % re.escape(string.punctuation), '')


vectorize_layer = layers.TextVectorization(standardize=custom_standardization, max_tokens=20, output_mode='int',
                                           output_sequence_length=6)
vectorize_layer.adapt(text_ds.batch(1024))
text_vector_ds = text_ds.batch(1024).prefetch(AUTOTUNE).map(vectorize_layer).unbatch()
sequences = list(text_vector_ds.as_numpy_iterator())
for seq in sequences[:2]:
    print(f"{seq} => {[vectorize_layer.get_vocabulary()[i] for i in seq]}")

targets, contexts, labels = generate_training_data(sequences=sequences[:2], window_size=2, num_ns=4, vocab_size=20,
                                                   seed=SEED)
targets = np.array(targets)
contexts = np.array(contexts)
labels = np.array(labels)
dataset = tf.data.Dataset.from_tensor_slices(((targets, contexts), labels))
dataset = dataset.shuffle(100).batch(4, drop_remainder=True)
dataset = dataset.cache().prefetch(buffer_size=AUTOTUNE)


class Word2Vec(tf.keras.Model):
    def __init__(self, vocab_size, embedding_dim):
        super(Word2Vec, self).__init__()
        self.target_embedding = layers.Embedding(vocab_size, embedding_dim, name="w2v_embedding")
        self.context_embedding = layers.Embedding(vocab_size, embedding_dim)

    def call(self, pair):
        target, context = pair
        if len(target.shape) == 2:
            target = tf.squeeze(target, axis=1)
        word_emb = self.target_embedding(target)
        context_emb = self.context_embedding(context)
        dots = tf.einsum('be,bce->bc', word_emb, context_emb)
        return dots


def custom_loss(x_logit, y_true):
    return tf.nn.sigmoid_cross_entropy_with_logits(logits=x_logit, labels=y_true)


word2vec = Word2Vec(20, 8)
word2vec.compile(optimizer='adam', loss=tf.keras.losses.CategoricalCrossentropy(from_logits=True),
                 metrics=['accuracy'])
logging_callback = tf.keras.callbacks.CSVLogger("log.csv")
word2vec.fit(dataset, epochs=1, callbacks=[logging_callback], verbose=0)
weights = word2vec.get_layer('w2v_embedding').get_weights()[0]
vocab = vectorize_layer.get_vocabulary()
out_v = io.open('vectors.tsv', 'w', encoding='utf-8')
for index, word in enumerate(vocab):
    if index == 0:
        continue
    vec = weights[index]
    out_v.write('\t'.join([str(x) for x in vec]) + "\n")
out_v.close()
normed = tf.nn.l2_normalize(weights, axis=1)
similar = tf.linalg.matmul(normed, normed, transpose_b=True)
print(tf.math.top_k(similar, k=3).indices.numpy()[:2], os.path.getsize('vectors.tsv'))
