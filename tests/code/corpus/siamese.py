import numpy as np
import tensorflow as tf
from tensorflow.keras import backend as K
from tensorflow.keras.layers import Dense, Flatten, Input, Lambda
from tensorflow.keras.models import Model


def euclidean_distance(vects):
    x, y = vects
    sum_square = tf.reduce_sum(tf.square(x - y), axis=1, keepdims=True)
    return tf.sqrt(tf.maximum(sum_square, 1e-7))


def contrastive_loss(y_true, y_pred):
    margin = 1
    square_pred = K.square(y_pred)
    margin_square = K.square(K.maximum(margin - y_pred, 0))
    return K.mean(y_true * square_pred + (1 - y_true) * margin_square)


def create_base_network(input_shape):
    inp = Input(shape=input_shape)
    x = Flatten()(inp)
    x = Dense(4, activation="relu")(x)
    return Model(inp, x)


base_network = create_base_network((3, 3))
input_a = Input((3, 3))
input_b = Input((3, 3))
processed_a, processed_b = base_network(input_a), base_network(input_b)
distance = Lambda(euclidean_distance, output_shape=(1,))([processed_a, processed_b])
scaled = Lambda(lambda t: t * 2.0)(distance)
model = Model([input_a, input_b], scaled)
model.compile(loss=contrastive_loss, optimizer=tf.keras.optimizers.RMSprop())
pairs = np.random.rand(4, 2, 3, 3)
model.fit([pairs[:, 0], pairs[:, 1]], np.array([[1.0], [0.0], [1.0], [0.0]]), epochs=1, verbose=0)
print(model.predict([pairs[:, 0], pairs[:, 1]], verbose=0).ravel())
print(base_network.predict(pairs[:, 0], verbose=0).shape, K.eval(K.variable([1.0])), K.zeros((1,)).numpy())
