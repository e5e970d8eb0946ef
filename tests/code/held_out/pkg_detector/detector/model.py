import tensorflow as tf
from tensorflow.keras import layers

from .registry import registry


class Detector(tf.keras.Model):
    def __init__(self, backbone, classes):
        super().__init__()
        self.backbone = backbone
        self.pool = layers.GlobalAveragePooling2D()
        self.heads = {"box": layers.Dense(4, activation="sigmoid"), "label": layers.Dense(classes)}

    def call(self, x, training=False):
        features = self.pool(self.backbone(x, training=training))
        return {name: head(features) for name, head in self.heads.items()}

    @tf.function
    def detect(self, x):
        out = self(x, training=False)
        return out["box"], tf.argmax(tf.nn.softmax(out["label"]), axis=-1)


def build_detector(cfg) -> Detector:
    backbone = registry.get(cfg.backbone)(cfg)
    detector = Detector(backbone, cfg.classes)
    detector(tf.zeros((1, cfg.size, cfg.size, 3)))
    return detector
