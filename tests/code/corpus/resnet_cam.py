import tensorflow as tf
from tensorflow.keras.layers import *
from tensorflow.keras import Model, Sequential, Input as KInput
import tensorflow.keras.backend as K

class ConvBNReLU(Layer):
    def __init__(self, filters, kernel=3, **kwargs):
        super(ConvBNReLU, self).__init__(**kwargs)
        self.seq = Sequential([Conv2D(filters, kernel, padding='same', use_bias=False), BatchNormalization(), ReLU()])
    def call(self, x, training=None):
        return self.seq(x, training=training)

class SEBlock(Layer):
    def build(self, shape):
        c = shape[-1]
        self.pool = GlobalAveragePooling2D(keepdims=True)
        self.fc1, self.fc2 = Dense(max(c // 2, 1), activation='relu'), Dense(c, activation='sigmoid')
    def call(self, x):
        return x * self.fc2(self.fc1(self.pool(x)))

def res_block(x, filters, downsample=False):
    shortcut = x
    stride = 2 if downsample else 1
    y = Conv2D(filters, 3, strides=stride, padding='same')(x)
    y = BatchNormalization()(y); y = ReLU()(y)
    if downsample or shortcut.shape[-1] != filters:
        shortcut = Conv2D(filters, 1, strides=stride)(shortcut)
    return ReLU()(Add()([y, shortcut]))

def build(shape=(8, 8, 3), blocks=[(4, False), (8, True)]):
    inp = KInput(shape)
    x = ConvBNReLU(4)(inp)
    for f, d in blocks:
        x = res_block(x, f, d)
        x = SEBlock()(x)
    x = GlobalAveragePooling2D()(x)
    return Model(inp, Dense(2)(x))

net = build()
x = tf.random.normal((2, 8, 8, 3))
for step, lr in enumerate([0.1, 0.01]):
    opt = tf.keras.optimizers.SGD(lr)
    with tf.GradientTape() as tape:
        logits = net(x, training=True)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 1], logits=logits))
        loss += sum(net.losses) if net.losses else 0.
    opt.apply_gradients(zip(tape.gradient(loss, net.trainable_weights), net.trainable_weights))
    print(step, float(loss), K.get_value(loss))
cam_model = Model(net.input, [net.layers[-3].output, net.output])
with tf.GradientTape() as tape:
    conv, pred = cam_model(x)
    top = pred[:, tf.argmax(pred[0])]
heat = tf.reduce_mean(tape.gradient(top, conv), axis=0)
heat = tf.maximum(heat, 0) / (tf.math.reduce_max(heat) + K.epsilon())
print(heat.numpy().shape, net.get_layer(index=2).name)
