import tensorflow as tf


class Regressor(tf.keras.Model):
    """A model with its own training step, as in the guides."""

    def __init__(self, units=8, **kwargs):
        super().__init__(**kwargs)
        self.hidden = tf.keras.layers.Dense(units, activation=tf.nn.relu)
        self.norm = tf.keras.layers.LayerNormalization()
        self.head = tf.keras.layers.Dense(1)
        self.loss_tracker = tf.keras.metrics.Mean(name="loss")
        self.mae_metric = tf.keras.metrics.MeanAbsoluteError(name="mae")

    def call(self, inputs, training=False):
        x = self.hidden(inputs)
        x = self.norm(x)
        if training:
            x = tf.nn.dropout(x, rate=0.1)
        return self.head(x)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = tf.reduce_mean(tf.square(y - y_pred))
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        self.loss_tracker.update_state(loss)
        self.mae_metric.update_state(y, y_pred)
        return {"loss": self.loss_tracker.result(), "mae": self.mae_metric.result()}

    @property
    def metrics(self):
        return [self.loss_tracker, self.mae_metric]


def main():
    x = tf.random.normal((32, 4))
    y = tf.reduce_sum(x, axis=1, keepdims=True)
    model = Regressor(units=4)
    model.compile(optimizer=tf.keras.optimizers.Adam(0.01))
    result = model.fit(x, y, epochs=1, batch_size=8, verbose=0)
    print(result.history)
    prediction = model(x[:2])
    print(prediction.shape, prediction.numpy())
    model.loss_tracker.reset_state()
    weights = model.get_weights()
    model.set_weights(weights)


if __name__ == "__main__":
    main()
