from tensorflow import keras
from tensorflow.keras import layers


class ConvBlock(layers.Layer):
    def __init__(self, width, stride=1, **kwargs):
        super().__init__(**kwargs)
        self.conv = layers.Conv2D(width, 3, stride, padding="same", use_bias=False)
        self.bn = layers.BatchNormalization()
        self.act = keras.activations.relu

    def call(self, x, training=False):
        return self.act(self.bn(self.conv(x), training=training))


class ResidualBlock(ConvBlock):
    def build(self, shape):
        self.project = layers.Conv2D(self.conv.filters, 1) if shape[-1] != self.conv.filters else layers.Identity()

    def call(self, x, training=False):
        return self.project(x) + super().call(x, training=training)
