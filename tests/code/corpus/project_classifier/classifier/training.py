import tensorflow.keras as K


class Trainer:
    def __init__(self, model: K.Model, epochs=1):
        self.model = model
        self.epochs = epochs
        self.model.compile(K.optimizers.Adam(), K.losses.SparseCategoricalCrossentropy(from_logits=True))

    def run(self, dataset):
        return self.model.fit(dataset, epochs=self.epochs, verbose=0)

    def evaluate(self, dataset):
        return self.model.evaluate(dataset, verbose=0)
