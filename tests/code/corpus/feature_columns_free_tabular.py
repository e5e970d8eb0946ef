"""Tabular data with preprocessing layers, as in the structured-data tutorials."""
import csv
import io

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

CSV = """age,thal,sex,chol,target
63,fixed,1,233,0
67,normal,1,286,1
67,reversible,1,229,0
37,normal,0,250,0
41,normal,0,204,0
56,normal,1,236,0
62,reversible,0,268,1
57,normal,0,354,0
"""


def df_to_dataset(rows, shuffle=True, batch_size=4):
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    for name in ('age', 'chol'):
        columns[name] = columns[name].astype('float32')
    columns['sex'] = columns['sex'].astype('int64')
    labels = columns.pop('target').astype('int64')
    df = {key: value[:, tf.newaxis] for key, value in columns.items()}
    ds = tf.data.Dataset.from_tensor_slices((dict(df), labels))
    if shuffle:
        ds = ds.shuffle(buffer_size=len(rows))
    ds = ds.batch(batch_size)
    ds = ds.prefetch(batch_size)
    return ds


def get_normalization_layer(name, dataset):
    normalizer = layers.Normalization(axis=None)
    feature_ds = dataset.map(lambda x, y: x[name])
    normalizer.adapt(feature_ds)
    return normalizer


def get_category_encoding_layer(name, dataset, dtype, max_tokens=None):
    if dtype == 'string':
        index = layers.StringLookup(max_tokens=max_tokens)
    else:
        index = layers.IntegerLookup(max_tokens=max_tokens)
    feature_ds = dataset.map(lambda x, y: x[name])
    index.adapt(feature_ds)
    encoder = layers.CategoryEncoding(num_tokens=index.vocabulary_size())
    return lambda feature: encoder(index(feature))


rows = list(csv.DictReader(io.StringIO(CSV)))
train_ds = df_to_dataset(rows)
val_ds = df_to_dataset(rows[:4], shuffle=False)
[(train_features, label_batch)] = train_ds.take(1)
print('Every feature:', list(train_features.keys()))
print('A batch of ages:', train_features['age'])

all_inputs = {}
encoded_features = []

for header in ['age', 'chol']:
    numeric_col = tf.keras.Input(shape=(1,), name=header)
    normalization_layer = get_normalization_layer(header, train_ds)
    encoded_numeric_col = normalization_layer(numeric_col)
    all_inputs[header] = numeric_col
    encoded_features.append(encoded_numeric_col)

sex_col = tf.keras.Input(shape=(1,), name='sex', dtype='int64')
encoding_layer = get_category_encoding_layer(name='sex', dataset=train_ds, dtype='int64', max_tokens=5)
encoded_sex_col = encoding_layer(sex_col)
all_inputs['sex'] = sex_col
encoded_features.append(encoded_sex_col)

for header in ['thal']:
    categorical_col = tf.keras.Input(shape=(1,), name=header, dtype='string')
    encoding_layer = get_category_encoding_layer(name=header, dataset=train_ds, dtype='string', max_tokens=5)
    encoded_features.append(encoding_layer(categorical_col))
    all_inputs[header] = categorical_col

bucketizer = layers.Discretization(bin_boundaries=[40., 50., 60.])
age_buckets = bucketizer(all_inputs['age'])
hashed = layers.HashedCrossing(num_bins=8, output_mode='one_hot')((age_buckets, all_inputs['thal']))
encoded_features.append(hashed)

all_features = tf.keras.layers.concatenate(encoded_features)
x = tf.keras.layers.Dense(8, activation="relu")(all_features)
x = tf.keras.layers.Dropout(0.5)(x)
output = tf.keras.layers.Dense(1)(x)
model = tf.keras.Model(all_inputs, output)
model.compile(optimizer='adam', loss=tf.keras.losses.BinaryCrossentropy(from_logits=True),
              metrics=["accuracy", tf.keras.metrics.AUC(name='auc')])
model.fit(train_ds, epochs=1, validation_data=val_ds)
result = model.evaluate(val_ds, return_dict=True)
print(result)

sample = {'age': 60., 'chol': 233., 'sex': 1, 'thal': 'fixed'}
input_dict = {name: tf.convert_to_tensor([value])[:, tf.newaxis] for name, value in sample.items()}
predictions = model.predict(input_dict)
prob = tf.nn.sigmoid(predictions[0])
print("This particular pet had a %.1f percent probability" % (100 * prob[0]))

weights = tf.data.experimental.cardinality(train_ds).numpy()
counts = train_ds.unbatch().reduce(np.int64(0), lambda acc, row: acc + row[1])
print(weights, counts.numpy(), next(val_ds.as_numpy_iterator())[1])
