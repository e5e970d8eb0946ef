#%% [markdown]
# Structured data: preprocessing layers, dict inputs, class weights, k-fold by hand
#%%
import math
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, callbacks as cb
from tensorflow.keras.layers import StringLookup as SL, IntegerLookup

SEED = 3
rng = np.random.RandomState(SEED)
CSV_HEADER = ["age", "hours", "job", "edu", "income"]
NUM, CAT = ["age", "hours"], {"job": ["clerk", "boss", "smith"], "edu": ["hs", "ba", "phd"]}
rows = {
    "age": rng.randint(18, 70, 32).astype("float32"),
    "hours": rng.randint(10, 60, 32).astype("float32"),
    "job": rng.choice(CAT["job"], 32),
    "edu": rng.choice(CAT["edu"], 32),
}
target = (rows["age"] + rng.randn(32) > 40).astype("int64")
#%%
pos, neg = target.sum(), (1 - target).sum()
class_weight = {0: (1 / max(neg, 1)) * len(target) / 2.0, 1: (1 / max(pos, 1)) * len(target) / 2.0}
initial_bias = tf.keras.initializers.Constant(np.log([(pos + 1) / (neg + 1)]))


def df_to_dataset(frame, labels=None, shuffle=True, batch_size=8):
    frame = {key: np.asarray(value)[:, tf.newaxis] for key, value in frame.items()}
    ds = tf.data.Dataset.from_tensor_slices(frame if labels is None else (dict(frame), labels))
    if shuffle:
        ds = ds.shuffle(buffer_size=len(labels), seed=SEED, reshuffle_each_iteration=True)
    return ds.batch(batch_size).prefetch(batch_size)


def get_normalization_layer(name, dataset):
    normalizer = layers.Normalization(axis=None)
    feature_ds = dataset.map(lambda x, y: x[name])
    normalizer.adapt(feature_ds)
    return normalizer


def get_category_encoding_layer(name, dataset, dtype, max_tokens=None):
    if dtype == 'string':
        index = SL(max_tokens=max_tokens)
    else:
        index = IntegerLookup(max_tokens=max_tokens)
    feature_ds = dataset.map(lambda x, y: x[name])
    index.adapt(feature_ds)
    encoder = layers.CategoryEncoding(num_tokens=index.vocabulary_size())
    return lambda feature: encoder(index(feature))


#%%
train_ds = df_to_dataset(rows, target)
[(train_features, label_batch)] = train_ds.take(1)
print('Every feature:', list(train_features.keys()))
print('A batch of ages:', train_features['age'].numpy().ravel(), label_batch.numpy())

all_inputs, encoded_features = {}, []
for header in NUM:
    numeric_col = tf.keras.Input(shape=(1,), name=header)
    normalization_layer = get_normalization_layer(header, train_ds)
    encoded_numeric_col = normalization_layer(numeric_col)
    all_inputs[header] = numeric_col
    encoded_features.append(encoded_numeric_col)
for header, vocab in CAT.items():
    categorical_col = tf.keras.Input(shape=(1,), name=header, dtype='string')
    encoding_layer = get_category_encoding_layer(name=header, dataset=train_ds, dtype='string', max_tokens=5)
    encoded_categorical_col = encoding_layer(categorical_col)
    all_inputs[header] = categorical_col
    encoded_features.append(encoded_categorical_col)

bucket = layers.Discretization(bin_boundaries=[30., 45., 60.], output_mode="one_hot")(all_inputs["age"])
crossed = layers.HashedCrossing(num_bins=5, output_mode="one_hot")((all_inputs["job"], all_inputs["edu"]))
hashed = layers.Hashing(num_bins=4, output_mode="one_hot")(all_inputs["edu"])


def head(features, units=(16, 8), dropout=0.2):
    z = layers.concatenate(features)
    wide = layers.BatchNormalization()(z)
    deep = wide
    for n, u in enumerate(units, start=1):
        deep = layers.Dense(u, name=f"deep_{n}")(deep)
        deep = {1: layers.ReLU, 2: layers.ELU}.get(n, layers.PReLU)()(deep)
        deep = layers.Dropout(dropout)(deep)
    return layers.Dense(1, activation="sigmoid", bias_initializer=initial_bias)(layers.concatenate([wide, deep]))


METRICS = [
    tf.keras.metrics.TruePositives(name='tp'),
    tf.keras.metrics.BinaryAccuracy(name='accuracy'),
    tf.keras.metrics.Precision(name='precision'),
    tf.keras.metrics.AUC(name='prc', curve='PR'),
]


def make_model(metrics=METRICS):
    model = tf.keras.Model(all_inputs, head([*encoded_features, bucket, crossed, hashed]))
    model.compile(optimizer=tf.keras.optimizers.Adam(learning_rate=tf.keras.optimizers.schedules.PiecewiseConstantDecay([10], [1e-2, 1e-3])),
                  loss=tf.keras.losses.BinaryFocalCrossentropy(gamma=2.0), weighted_metrics=metrics)
    return model


model = make_model()
stop = cb.EarlyStopping(monitor='prc', verbose=0, patience=10, mode='max', restore_best_weights=True)
baseline_history = model.fit(train_ds, epochs=2, callbacks=[stop, cb.TerminateOnNaN(), cb.CSVLogger("log.csv")], class_weight=class_weight, verbose=0)
results = model.evaluate(train_ds, verbose=0)
for name, value in zip(model.metrics_names, results):
    print(name, ': ', value)
sample = {'age': 35., 'hours': 40., 'job': 'boss', 'edu': 'phd'}
input_dict = {name: tf.convert_to_tensor([[value]]) for name, value in sample.items()}
predictions = model.predict(input_dict, verbose=0)
print("%.1f percent" % (100 * tf.squeeze(predictions).numpy()))

# oversample
feats = {k: tf.constant(v) for k, v in rows.items()}
bool_labels = target != 0
pos_ids = tf.where(bool_labels)[:, 0]
choices = tf.random.shuffle(tf.repeat(pos_ids, 2))[:8]
res = {k: tf.gather(v, choices) for k, v in feats.items()}
pos_ds, neg_ds = [tf.data.Dataset.from_tensor_slices(res).map(lambda d, w=w: (d, w)) for w in (1, 0)]
resampled_ds = tf.data.Dataset.sample_from_datasets([pos_ds, neg_ds], weights=[0.5, 0.5], seed=1)
steps = math.ceil(2.0 * neg / 8)
counts = resampled_ds.batch(4).map(lambda d, w: tf.reduce_mean(tf.cast(w, tf.float32)))
print(steps, [c.numpy() for c in counts], resampled_ds.cardinality().numpy())
for fold, (a, b) in enumerate(zip(np.array_split(np.arange(32), 2), np.array_split(np.arange(32), 2)[::-1])):
    part = df_to_dataset({k: v[a] for k, v in rows.items()}, target[a], shuffle=fold == 0)
    print(fold, *map(float, model.evaluate(part, verbose=0)[:2]))
