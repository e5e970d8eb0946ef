import tensorflow as tf

from ..registry import registry
from .blocks import ConvBlock


@registry.add("plain")
def plain(cfg) -> tf.keras.Model:
    return tf.keras.Sequential([tf.keras.Input((cfg.size, cfg.size, 3)), ConvBlock(cfg.width, 2), ConvBlock(cfg.width * 2, 2)])
