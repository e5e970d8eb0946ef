from .common import K, tf

FINISHED = []


class Task:
    optimizer = "adam"
    metrics = ()

    def __init__(self, model):
        self.model = model
        self.callbacks = [K.callbacks.EarlyStopping(monitor="loss")]

    def loss(self):
        raise NotImplementedError

    def prepare(self):
        self.model.compile(optimizer=self.optimizer, loss=self.loss(), metrics=list(self.metrics))
        return self

    def run(self, ds, **kwargs):
        history = self.model.fit(ds, verbose=0, callbacks=self.callbacks, **kwargs)
        FINISHED.append(self)
        return history

    def predictions(self, ds):
        return tf.concat([self.model(x) for x, _ in ds], axis=0)

    def score(self, ds):
        return self.model.evaluate(ds, verbose=0, return_dict=True)["loss"]

    def export(self):
        return [tf.identity(w) for w in self.model.weights]


class Classify(Task):
    metrics = [K.metrics.CategoricalAccuracy()]

    def loss(self):
        return K.losses.CategoricalCrossentropy()


class Smoothed(Classify):
    optimizer = K.optimizers.Adam(1e-2)

    def __init__(self, model, smoothing=0.1):
        super().__init__(model)
        self.smoothing = smoothing
        self.callbacks.append(K.callbacks.LearningRateScheduler(lambda epoch, lr: lr * 0.9))

    def loss(self):
        base = super().loss()
        uniform = K.losses.KLDivergence()

        def mixed(y, p):
            return (1 - self.smoothing) * base(y, p) + self.smoothing * uniform(tf.ones_like(p) / 2.0, p)
        return mixed


ALL = {"bag": Classify, "gru": Classify, "conv": Smoothed, "transformer": Classify}
