import tensorflow as tf


class Trainer:
    def __init__(self, width):
        self.model = tf.keras.Sequential(
            [tf.keras.layers.Dense(width, activation="relu"), tf.keras.layers.Dense(1)]
        )
        self.optimizer = tf.keras.optimizers.SGD(0.001)

    @tf.function
    def step(self, x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self.model(x) - y) ** 2)
        gradients = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables))
        return loss

    def epoch(self, dataset):
        total = 0.0
        for x, y in dataset:
            total += float(self.step(x, y))
        return total
