# Written cell by cell, then exported: globals everywhere, functions that read them.
import tensorflow as tf
import numpy as np
from tensorflow.keras.models import Sequential
from tensorflow.keras.layers import Dense, Activation
from tensorflow.keras import optimizers, initializers, regularizers, constraints
from tensorflow.keras.utils import plot_model, to_categorical
from tensorflow.keras.callbacks import EarlyStopping
from sys import *

batch_size, epochs = 4, 1
X = np.random.rand(12, 4)
Y = to_categorical(np.random.randint(0, 2, 12))

def evaluate_model(trainX, trainY, testX, testY):
    n_features, n_outputs = trainX.shape[1], trainY.shape[1]
    model = Sequential()
    model.add(Dense(4, input_dim=n_features, kernel_initializer=initializers.RandomNormal(stddev=0.01),
                    kernel_regularizer=regularizers.l1_l2(l1=1e-5, l2=1e-4), kernel_constraint=constraints.MaxNorm(2.)))
    model.add(Activation('tanh'))
    model.add(Dense(n_outputs, activation='softmax'))
    model.compile(loss='categorical_crossentropy', optimizer=optimizers.SGD(learning_rate=0.01, momentum=0.9, nesterov=True), metrics=['accuracy'])
    model.fit(trainX, trainY, epochs=epochs, batch_size=batch_size, verbose=0)
    _, accuracy = model.evaluate(testX, testY, batch_size=batch_size, verbose=0)
    return accuracy, model

def run_experiment(repeats=1):
    scores = list()
    for r in range(repeats):
        score, last = evaluate_model(X, Y, X, Y)
        score = score * 100.0
        scores.append(score)
    return scores, last

scores, model = run_experiment()
def show_layers():
    for i, layer in enumerate(model.layers):
        weights = layer.get_weights()
        print(i, layer.name, layer.get_config()['name'], len(weights))
show_layers()
yhat = model.predict(X[:1], verbose=0)[0]
print(yhat.argmax(), model.to_json()[:10])
activations_model = tf.keras.Model(inputs=model.inputs, outputs=[l.output for l in model.layers])
activations = activations_model.predict(X, verbose=0)
print([a.shape for a in activations])
sess_like = [tf.square(v) for v in map(tf.constant, (1., 2.))]
print(sum(sess_like).numpy(), *map(lambda t: t.numpy(), sess_like))
model_b = tf.keras.models.clone_model(model); model_b.set_weights(model.get_weights())
ensembled = np.mean([m.predict(X, verbose=0) for m in (model, model_b)], axis=0)
print(ensembled.shape, np.allclose(model(X), model_b(X)))
