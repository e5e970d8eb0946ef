import tensorflow as tf

from src.windows import WindowGenerator


def compile_and_fit(model, window: WindowGenerator, patience=2):
    early_stopping = tf.keras.callbacks.EarlyStopping(monitor='val_loss', patience=patience, mode='min')
    model.compile(loss=tf.keras.losses.MeanSquaredError(), optimizer=tf.keras.optimizers.Adam(),
                  metrics=[tf.keras.metrics.MeanAbsoluteError()])
    history = model.fit(window.train, epochs=1, validation_data=window.val, callbacks=[early_stopping], verbose=0)
    return history


class Runner:
    def __init__(self, model):
        self._model = model
        self._ready = False

    def prepare(self):
        self._model.compile("sgd", "mse")
        self._ready = True
        return self

    @property
    def model(self):
        if not self._ready:
            self.prepare()
        return self._model

    def score(self, example):
        inputs, _ = example
        out = self.model(inputs)
        return tf.reduce_mean(tf.abs(out)).numpy()
