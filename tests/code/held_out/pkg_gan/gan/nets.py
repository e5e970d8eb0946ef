import tensorflow as tf

from .settings import Settings

GENERATORS = {}


def generator(name):
    def add(cls):
        GENERATORS[name] = cls
        return cls

    return add


class SpectralDense(tf.keras.layers.Dense):
    def call(self, inputs):
        sigma = tf.norm(self.kernel)
        return tf.matmul(inputs, self.kernel / sigma) + self.bias


@generator("mlp")
class MLP(tf.keras.Model):
    def __init__(self, settings: Settings):
        super().__init__()
        self.settings = settings
        self.body = tf.keras.Sequential([tf.keras.layers.Dense(settings.width, activation="swish") for _ in range(2)])
        self.head = tf.keras.layers.Dense(2)

    def call(self, noise):
        return self.head(self.body(noise))

    def noise(self, n):
        return tf.random.normal([n, self.settings.noise])


@generator("linear")
class Linear(MLP):
    def __init__(self, settings):
        super().__init__(settings)
        self.body = tf.keras.layers.Identity()


def make_critic(settings):
    model = tf.keras.Sequential(name="critic")
    model.add(tf.keras.Input((2,)))
    for _ in range(2):
        model.add(SpectralDense(settings.width))
        model.add(tf.keras.layers.LeakyReLU())
    model.add(tf.keras.layers.Dense(1))
    return model
