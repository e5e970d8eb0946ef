import tensorflow as tf
from tensorflow.keras import Model, layers


class MemoryBank:
    """Looks like a data set, is none."""

    def __init__(self):
        self.items = []

    def batch(self, n):
        return [self.items[i : i + n] for i in range(0, len(self.items), n)]

    def map(self, f):
        self.items = [f(i) for i in self.items]
        return self


class ContrastiveModel(Model):
    def __init__(self, backbone, head=None, temperature=0.1):
        super().__init__()
        self.backbone = backbone
        self.head = head or layers.Dense(2)
        self.temperature = temperature
        self.probe_metric = tf.keras.metrics.SparseCategoricalAccuracy(name="p_acc")

    def compile(self, contrastive_optimizer, **kwargs):
        super().compile(**kwargs)
        self.contrastive_optimizer = contrastive_optimizer

    def contrastive_loss(self, a, b):
        a = tf.math.l2_normalize(a, axis=1)
        b = tf.math.l2_normalize(b, axis=1)
        similarities = tf.matmul(a, b, transpose_b=True) / self.temperature
        labels = tf.range(tf.shape(a)[0])
        self.probe_metric.update_state(labels, similarities)
        loss = tf.keras.losses.sparse_categorical_crossentropy(labels, similarities, from_logits=True)
        return tf.reduce_mean(loss)

    def train_step(self, data):
        noisy = data + tf.random.normal(tf.shape(data), stddev=0.1)
        with tf.GradientTape() as tape:
            features_1 = self.backbone(data, training=True)
            features_2 = self.backbone(noisy, training=True)
            loss = self.contrastive_loss(self.head(features_1), self.head(features_2))
        weights = self.backbone.trainable_weights + self.head.trainable_weights
        gradients = tape.gradient(loss, weights)
        self.contrastive_optimizer.apply_gradients(zip(gradients, weights))
        return {m.name: m.result() for m in self.metrics}

    @property
    def metrics(self):
        return [self.probe_metric]

    def call(self, x):
        return self.head(self.backbone(x))


backbone = tf.keras.Sequential([layers.Dense(4, activation="relu"), layers.Dense(3)], name="backbone")
model = ContrastiveModel(backbone)
x = tf.random.normal((8, 5))
model(x)
model.compile(contrastive_optimizer=tf.keras.optimizers.Adam())
ds = tf.data.Dataset.from_tensor_slices(x).batch(4, drop_remainder=True)
model.fit(ds, epochs=1, verbose=0)
bank = MemoryBank()
bank.items.extend(model(x).numpy().tolist())
print(len(bank.map(lambda v: v[0]).batch(3)))
(first_batch,) = ds.take(1)
print(first_batch.shape, model.predict(ds, verbose=0).shape)
