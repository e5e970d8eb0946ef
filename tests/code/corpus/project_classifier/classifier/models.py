from tensorflow import keras
from tensorflow.keras import layers

from .blocks import DenseBlock


def build_model(num_classes):
    inputs = keras.Input((6,))
    x = DenseBlock(8)(inputs)
    x = DenseBlock(8)(x)
    return keras.Model(inputs, layers.Dense(num_classes)(x), name="classifier")
