import os
import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import Conv2D, Conv2DTranspose, Input, MaxPooling2D, concatenate
from tensorflow.keras.models import Model
from tensorflow.keras.utils import Sequence


class DataGen(Sequence):
    def __init__(self, n, batch_size=2, **kwargs):
        super().__init__(**kwargs)
        self.n, self.batch_size = n, batch_size

    def __len__(self):
        return int(np.ceil(self.n / self.batch_size))

    def __getitem__(self, index):
        image = np.random.rand(self.batch_size, 8, 8, 1)
        return image, (image > 0.5).astype("float32")


def conv_block(tensor, filters, n=1):
    for _ in range(n):
        tensor = Conv2D(filters, (3, 3), padding="same", activation="relu")(tensor)
    return tensor


def unet(shape, base=2):
    inputs = Input(shape)
    skips, x = [], inputs
    for level in range(2):
        x = conv_block(x, base * 2**level)
        skips.append(x)
        x = MaxPooling2D((2, 2))(x)
    x = conv_block(x, base * 4)
    for level, skip in zip(reversed(range(2)), skips[::-1]):
        x = Conv2DTranspose(base * 2**level, 2, strides=2, padding="same")(x)
        x = concatenate([x, skip])
        x = conv_block(x, base * 2**level)
    return Model(inputs=[inputs], outputs=[Conv2D(1, 1, activation="sigmoid")(x)])


def iou(y_true, y_pred):
    def f(y_true, y_pred):
        intersection = (y_true * y_pred).sum()
        union = y_true.sum() + y_pred.sum() - intersection
        return np.float32((intersection + 1e-15) / (union + 1e-15))

    return tf.ensure_shape(tf.numpy_function(f, [y_true, y_pred], tf.float32), ())


def create_mask(pred_mask):
    pred_mask = tf.math.argmax(pred_mask, axis=-1)
    pred_mask = pred_mask[..., tf.newaxis]
    return pred_mask[0]


model = unet((8, 8, 1))
model.compile(optimizer=tf.keras.optimizers.Nadam(1e-3), loss=tf.keras.losses.BinaryCrossentropy(), metrics=['mae'])
gen = DataGen(4)
model.fit(gen, epochs=1, steps_per_epoch=len(gen), verbose=0)
x, y = gen[0]
mask = create_mask(model.predict(x, verbose=0))
print(mask.shape, iou(tf.constant(y), model(x)).numpy(), os.sep)
iou_metric = tf.keras.metrics.MeanIoU(num_classes=2)
iou_metric.update_state(y > 0.5, model(x) > 0.5)
print(iou_metric.result().numpy())
