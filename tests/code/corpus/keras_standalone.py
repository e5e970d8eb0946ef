import keras
import numpy as np
from keras import layers, ops, random as krandom
from keras.models import Sequential, load_model

keras.utils.set_random_seed(7)


@keras.saving.register_keras_serializable(package="corpus")
class Swish(layers.Layer):
    def call(self, x):
        return ops.multiply(x, ops.sigmoid(x))


def build_model(hidden=4):
    return Sequential([keras.Input(shape=(5,)), layers.Dense(hidden), Swish(), layers.Dense(1)], name="net")


x = krandom.normal((16, 5))
y = ops.sum(x, axis=-1, keepdims=True)
model = build_model()
model.compile(optimizer=keras.optimizers.AdamW(1e-3), loss=keras.losses.Huber(), metrics=[keras.metrics.MeanSquaredError()])
model.fit(x, y, batch_size=8, epochs=1, verbose=0)
print(model.evaluate(x, y, return_dict=True, verbose=0))
print(ops.convert_to_numpy(ops.mean(model(x))), model.name)
model.save("net.keras")
again = load_model("net.keras")
print(np.allclose(model.predict(x, verbose=0), again.predict(x, verbose=0)))
config = again.to_json()
clone = keras.models.model_from_json(config)
clone.build((None, 5))
clone.summary(print_fn=lambda line: None)
frozen = keras.models.clone_model(model)
print(frozen.count_params(), keras.version(), keras.backend.backend())
