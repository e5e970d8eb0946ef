import tempfile

import tensorflow as tf

from .losses import get_loss
from .utils import Averages, logger


class Trainer:
    def __init__(self, net, cfg):
        self.net, self.cfg = net, cfg
        self.optimizer = tf.keras.optimizers.Adam(cfg.lr)
        self.box_loss = get_loss(cfg.loss)
        self.label_loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.averages = Averages("loss", "box", "label")
        self.accuracy = tf.keras.metrics.SparseCategoricalAccuracy()
        checkpoint = tf.train.Checkpoint(net=net, optimizer=self.optimizer)
        self.checkpoints = tf.train.CheckpointManager(checkpoint, tempfile.mkdtemp(), max_to_keep=1)

    def losses(self, out, target):
        box = self.box_loss(target["box"], out["box"])
        label = self.label_loss(target["label"], out["label"])
        return box + label, box, label

    @tf.function
    def _step(self, image, target):
        with tf.GradientTape() as tape:
            out = self.net(image, training=True)
            loss, box, label = self.losses(out, target)
        grads = tape.gradient(loss, self.net.trainable_variables)
        grads = [tf.clip_by_norm(g, 1.0) for g in grads]
        self.optimizer.apply_gradients(zip(grads, self.net.trainable_variables))
        return dict(loss=loss, box=box, label=label)

    def fit(self, loader, epochs):
        for epoch in range(epochs):
            self.averages.reset()
            for image, target in loader:
                self.averages.update(**self._step(image, target))
            logger.info("epoch %d %s", epoch, {k: float(v) for k, v in self.averages.result().items()})

    def evaluate(self, loader):
        self.averages.reset()
        for image, target in loader:
            out = self.net(image, training=False)
            loss, box, label = self.losses(out, target)
            self.averages.update(loss=loss, box=box, label=label)
            self.accuracy.update_state(target["label"], out["label"])
        return {**self.averages.result(), "accuracy": self.accuracy.result()}
