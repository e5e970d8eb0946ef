import dataclasses
from dataclasses import dataclass, field

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers, regularizers


@dataclass
class Config:
    users: int = 5
    items: int = 7
    dim: int = 3
    optimizer: keras.optimizers.Optimizer = field(default_factory=keras.optimizers.Adagrad)
    loss: str = "mse"
    callbacks: list = field(default_factory=lambda: [keras.callbacks.History()])


class RecommenderNet(keras.Model):
    def __init__(self, config: Config, **kwargs):
        super().__init__(**kwargs)
        self.user_embedding = layers.Embedding(
            config.users, config.dim, embeddings_initializer="he_normal", embeddings_regularizer=regularizers.l2(1e-6)
        )
        self.user_bias = layers.Embedding(config.users, 1)
        self.item_embedding = layers.Embedding(config.items, config.dim)
        self.item_bias = layers.Embedding(config.items, 1)

    def call(self, inputs):
        user_vector = self.user_embedding(inputs[:, 0])
        user_bias = self.user_bias(inputs[:, 0])
        item_vector = self.item_embedding(inputs[:, 1])
        item_bias = self.item_bias(inputs[:, 1])
        dot = tf.reduce_sum(tf.multiply(user_vector, item_vector), 1, keepdims=True)
        return tf.nn.sigmoid(dot + user_bias + item_bias)

    def recommend(self, user, k=2):
        items = tf.range(7)
        pairs = tf.stack([tf.fill([7], user), items], axis=1)
        scores = tf.squeeze(self(pairs), -1)
        best = tf.math.top_k(scores, k=k)
        return best.indices.numpy().tolist()


config = Config()
model = RecommenderNet(config)
model.compile(loss=config.loss, optimizer=config.optimizer)
pairs = np.stack([np.random.randint(0, 5, 20), np.random.randint(0, 7, 20)], axis=1)
ratings = np.random.rand(20, 1)
model.fit(x=pairs, y=ratings, batch_size=10, epochs=1, verbose=0, callbacks=config.callbacks)
print(model.recommend(1), dataclasses.asdict(Config(users=2))["users"])
print(model.user_embedding.get_weights()[0].shape, model.predict(pairs[:2], verbose=0).shape)
print(config.optimizer.get_config()["name"], tf.keras.backend.get_value(config.optimizer.learning_rate))
