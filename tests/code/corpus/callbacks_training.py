import os
import tempfile

import numpy as np
from tensorflow.keras.callbacks import Callback, EarlyStopping, LambdaCallback, LearningRateScheduler
from tensorflow.keras.callbacks import ModelCheckpoint, ReduceLROnPlateau
from tensorflow import keras


class LossHistory(Callback):
    def __init__(self):
        super().__init__()
        self.losses = []

    def on_train_begin(self, logs=None):
        self.started = True

    def on_batch_end(self, batch, logs=None):
        self.losses.append(logs.get("loss"))

    def on_epoch_end(self, epoch, logs=None):
        lr = float(keras.ops.convert_to_numpy(self.model.optimizer.learning_rate))
        if lr < 1e-9:
            self.model.stop_training = True
        predictions = self.model.predict(np.zeros((1, 3)), verbose=0)
        self.last = predictions.sum()


def schedule(epoch, lr):
    return lr * 0.9


def build():
    inputs = keras.Input((3,))
    outputs = keras.layers.Dense(1)(inputs)
    net = keras.Model(inputs, outputs)
    net.compile(keras.optimizers.SGD(0.1, momentum=0.9), "mse")
    return net


with tempfile.TemporaryDirectory() as folder:
    recorder = LossHistory()
    path = os.path.join(folder, "best.weights.h5")
    callbacks = [
        recorder,
        EarlyStopping(monitor="loss", patience=1, restore_best_weights=True),
        ModelCheckpoint(path, monitor="loss", save_weights_only=True, save_best_only=True),
        LearningRateScheduler(schedule),
        ReduceLROnPlateau(monitor="loss", factor=0.5, patience=1),
        LambdaCallback(on_epoch_begin=lambda epoch, logs: print("epoch", epoch)),
        keras.callbacks.TerminateOnNaN(),
    ]
    model = build()
    model.fit(np.ones((8, 3)), np.ones((8, 1)), epochs=2, callbacks=callbacks, verbose=0)
    restored = build()
    restored.load_weights(path)
    print(len(recorder.losses), recorder.last, restored.evaluate(np.ones((2, 3)), np.ones((2, 1)), verbose=0))
