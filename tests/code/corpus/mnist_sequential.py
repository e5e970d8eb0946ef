"""The first program everybody writes."""
import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import Dense, Dropout, Flatten
from tensorflow.keras.models import Sequential
from tensorflow.keras.utils import to_categorical

NUM_CLASSES = 10

x_train = np.random.rand(64, 28, 28).astype("float32")
y_train = np.random.randint(0, NUM_CLASSES, size=64)
x_test, y_test = x_train[:16], y_train[:16]
x_train = x_train / 255.0
y_train = to_categorical(y_train, NUM_CLASSES)
y_test = to_categorical(y_test, num_classes=NUM_CLASSES)

model = Sequential()
model.add(Flatten())
model.add(Dense(16, activation="relu"))
model.add(Dropout(0.2))
model.add(Dense(NUM_CLASSES, activation="softmax"))
model.compile(optimizer="adam", loss="categorical_crossentropy", metrics=["accuracy"])
history = model.fit(x_train, y_train, epochs=2, batch_size=32, verbose=0, validation_data=(x_test, y_test))
print(history.history["loss"][-1], max(history.history["accuracy"]))
model.summary()
loss, accuracy = model.evaluate(x_test, y_test, verbose=0)
probabilities = model.predict(x_test, verbose=0)
labels = np.argmax(probabilities, axis=1)
print("accuracy: {:.2f}".format(accuracy), labels.shape)
confusion = tf.math.confusion_matrix(np.argmax(y_test, 1), labels, num_classes=NUM_CLASSES)
print(confusion.numpy().sum(), tf.reduce_sum(confusion).numpy())
