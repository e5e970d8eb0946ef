from typing import Callable, Dict, Type
import tensorflow as tf
from mylib import layers

_ITEMS: Dict[str, Type[tf.keras.layers.Layer]] = {"scale": layers.Scale}

def get(name: str) -> Type[tf.keras.layers.Layer]:
    return _ITEMS[name]
