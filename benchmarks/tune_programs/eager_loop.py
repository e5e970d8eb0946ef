"""eager loop: a small program of ordinary make for benchmarks/tune_table.py."""

import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(3)
x = np.random.rand(2048, 32).astype("float32")
y = (x.sum(axis=1) > 16).astype("int32")
dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(32)
model = keras.Sequential(
    [
        keras.Input((32,)),
        layers.Dense(64, activation="relu"),
        layers.Dense(64, activation="relu"),
        layers.Dense(2),
    ]
)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.Adam(1e-3)
train_acc = keras.metrics.SparseCategoricalAccuracy()

for epoch in range(4):
    print(f"Start of epoch {epoch}")
    for step, (x_batch, y_batch) in enumerate(dataset):
        with tf.GradientTape() as tape:
            logits = model(x_batch, training=True)
            loss = loss_fn(y_batch, logits)
        grads = tape.gradient(loss, model.trainable_weights)
        optimizer.apply(grads, model.trainable_weights)
        train_acc.update_state(y_batch, logits)
        if step % 32 == 0:
            print(f"step {step}: loss {float(loss):.4f}")
    print(f"accuracy {float(train_acc.result()):.4f}")
    train_acc.reset_state()
