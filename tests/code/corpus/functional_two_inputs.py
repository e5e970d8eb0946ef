import numpy as np
from tensorflow import keras as k
from tensorflow.keras import layers as L, Model
import tensorflow.keras.backend as K


def tower(inputs, width, name):
    x = L.Dense(width, activation="relu", name=f"{name}_dense")(inputs)
    x = L.BatchNormalization()(x)
    return L.Activation("tanh")(x)


left = k.Input(shape=(4,), name="left")
right = L.Input((3,), name="right")
a, b = tower(left, 8, "a"), tower(right, 8, "b")
merged = L.concatenate([a, b])
gate = k.layers.Dense(16, activation=k.activations.sigmoid)(merged)
mixed = L.Multiply()([merged, gate])
mixed = L.Add()([mixed, merged])
out_a = L.Dense(1, name="score")(mixed)
out_b = L.Dense(2, activation="softmax", name="kind")(L.Dropout(0.1)(mixed))
model = Model(inputs=[left, right], outputs=[out_a, out_b])
model.compile(
    optimizer=k.optimizers.RMSprop(learning_rate=1e-3),
    loss={"score": k.losses.MeanSquaredError(), "kind": "sparse_categorical_crossentropy"},
)
data = {"left": np.ones((8, 4)), "right": np.ones((8, 3))}
targets = {"score": np.zeros((8, 1)), "kind": np.zeros((8,))}
model.fit(data, targets, epochs=1, verbose=0)
scores, kinds = model.predict(data, verbose=0)
print(scores.shape, kinds.mean(), K.int_shape(merged))
probe = Model(model.inputs, model.get_layer("a_dense").output)
print(probe([np.ones((1, 4)), np.ones((1, 3))]).numpy().shape)
for layer in model.layers:
    print(layer.name, [w.shape for w in layer.get_weights()], layer.count_params())
