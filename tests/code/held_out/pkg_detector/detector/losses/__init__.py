"""Losses by name."""
import tensorflow as tf

from .smooth import SmoothBox

_LOSSES = {"smooth": SmoothBox, "huber": tf.keras.losses.Huber}


def get_loss(name, **kwargs):
    return _LOSSES[name](**kwargs)
