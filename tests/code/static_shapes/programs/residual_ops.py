import os
import numpy as np
import keras
from keras import ops, layers

BATCH = int(os.environ.get("BATCH", "16"))

class Residual(keras.Model):
    def __init__(self, filters, stride=1):
        super().__init__()
        self.conv1 = layers.Conv2D(filters, 3, strides=stride, padding="same", use_bias=False)
        self.bn1 = layers.BatchNormalization()
        self.conv2 = layers.Conv2D(filters, 3, padding="same", use_bias=False)
        self.bn2 = layers.BatchNormalization()
        self.shortcut = None
        if stride != 1:
            self.shortcut = keras.Sequential([layers.Conv2D(filters, 1, strides=stride), layers.BatchNormalization()])
    def call(self, x, training=False):
        y = ops.relu(self.bn1(self.conv1(x), training=training))
        y = self.bn2(self.conv2(y), training=training)
        s = self.shortcut(x) if self.shortcut is not None else x
        return ops.relu(ops.add(y, s))

class Net(keras.Model):
    def __init__(self, blocks, classes):
        super().__init__()
        self.stem = layers.Conv2D(8, 3, padding="same")
        self.blocks = []
        for n, (f, s) in enumerate(blocks):
            self.blocks.append(Residual(f, s))
        self.pool = layers.GlobalAveragePooling2D()
        self.head = layers.Dense(classes)
    def call(self, x, training=False):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x, training=training)
        return self.head(self.pool(x))

class Data(keras.utils.PyDataset):
    def __init__(self, n, batch, **kw):
        super().__init__(**kw)
        self.x = np.random.rand(n, 16, 16, 3).astype("float32")
        self.y = np.random.randint(0, 5, size=(n,))
        self.batch = batch
    def __len__(self):
        return int(np.ceil(len(self.x) / self.batch))
    def __getitem__(self, i):
        return self.x[i * self.batch:(i + 1) * self.batch], self.y[i * self.batch:(i + 1) * self.batch]

net = Net([(8, 1), (16, 2)], 5)
net.compile(optimizer=keras.optimizers.SGD(0.1, momentum=0.9), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
data = Data(48, BATCH)
net.fit(data, epochs=1, verbose=0)
print(net.evaluate(data.x, data.y, batch_size=BATCH, verbose=0))
z = ops.softmax(net(data.x[:3]))
print(ops.shape(z), ops.mean(z, axis=-1), ops.concatenate([z, z], axis=0))
