import argparse
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

NUM_CLASSES = 10
INPUT_SHAPE = (28, 28, 1)

def get_data(n=256):
    x = np.random.randint(0, 255, size=(n, 28, 28)).astype("uint8")
    y = np.random.randint(0, NUM_CLASSES, n)
    x = x.astype("float32") / 255
    x = np.expand_dims(x, -1)
    y = keras.utils.to_categorical(y, NUM_CLASSES)
    return (x[:200], y[:200]), (x[200:], y[200:])

def make_model(filters, dropout=0.5):
    inputs = keras.Input(shape=INPUT_SHAPE)
    x = inputs
    for f in filters:
        x = layers.Conv2D(f, kernel_size=(3, 3), activation="relu")(x)
        x = layers.MaxPooling2D(pool_size=(2, 2))(x)
    x = layers.Flatten()(x)
    x = layers.Dropout(dropout)(x)
    outputs = layers.Dense(NUM_CLASSES, activation="softmax")(x)
    return keras.Model(inputs, outputs, name="convnet")

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--filters", type=int, nargs="+", default=[4, 8])
    args = parser.parse_args()
    (x_train, y_train), (x_test, y_test) = get_data()
    model = make_model(args.filters)
    model.compile(loss="categorical_crossentropy", optimizer=keras.optimizers.Adam(1e-3), metrics=["accuracy"])
    model.fit(x_train, y_train, batch_size=args.batch_size, epochs=args.epochs, validation_split=0.1, verbose=0)
    score = model.evaluate(x_test, y_test, verbose=0)
    pred = model.predict(x_test[:16], verbose=0)
    labels = tf.argmax(pred, axis=1)
    print(score, labels.shape)
    ds = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(100).batch(args.batch_size)
    ds = ds.map(lambda a, b: (tf.image.resize(a, (14, 14)), b)).prefetch(tf.data.AUTOTUNE)
    for a, b in ds.take(1):
        print(tf.reduce_mean(a), tf.shape(b))

if __name__ == "__main__":
    main()
