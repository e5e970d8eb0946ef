"""A model as a class."""
import tensorflow as tf
from tensorflow.keras.layers import Dense, Flatten, Conv2D
from tensorflow.keras import Model


class Net(Model):
    def __init__(self):
        super().__init__()
        self.conv1 = Conv2D(20, 5, strides=2, activation="relu")
        self.conv2 = Conv2D(40, 3, activation="relu")
        self.flatten = Flatten()
        self.d1 = Dense(100, activation="relu")
        self.d2 = Dense(10)

    def call(self, x):
        x = self.conv1(x)
        x = self.conv2(x)
        x = self.flatten(x)
        x = self.d1(x)
        return self.d2(x)


net = Net()
net.compile(
    optimizer=tf.keras.optimizers.SGD(learning_rate=0.01, momentum=0.9),
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
x = tf.random.normal([1920, 28, 28, 1])
y = tf.random.uniform([1920], 0, 10, tf.int64)
net.fit(x, y, batch_size=48, epochs=3, verbose=0)
net.evaluate(x, y, batch_size=96, verbose=0)
