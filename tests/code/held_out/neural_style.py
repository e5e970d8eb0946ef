import functools

import numpy as np
import tensorflow as tf

content_layers = ["block2"]
style_layers = ["block1", "block2"]


def clip_0_1(image):
    return tf.clip_by_value(image, clip_value_min=0.0, clip_value_max=1.0)


def small_vgg():
    inp = tf.keras.layers.Input((8, 8, 3))
    x = tf.keras.layers.Conv2D(2, 3, padding="same", name="block1")(inp)
    x = tf.keras.layers.AveragePooling2D(2)(x)
    x = tf.keras.layers.Conv2D(2, 3, padding="same", name="block2")(x)
    return tf.keras.Model(inp, x)


def vgg_layers(layer_names):
    vgg = small_vgg()
    vgg.trainable = False
    outputs = [vgg.get_layer(name).output for name in layer_names]
    return tf.keras.Model([vgg.input], outputs)


def gram_matrix(input_tensor):
    result = tf.linalg.einsum("bijc,bijd->bcd", input_tensor, input_tensor)
    input_shape = tf.shape(input_tensor)
    num_locations = tf.cast(input_shape[1] * input_shape[2], tf.float32)
    return result / num_locations


class StyleContentModel(tf.keras.models.Model):
    def __init__(self, style_layers, content_layers):
        super().__init__()
        self.vgg = vgg_layers(style_layers + content_layers)
        self.num_style_layers = len(style_layers)

    def call(self, inputs):
        inputs = inputs * 255.0
        outputs = self.vgg(inputs)
        style, content = outputs[: self.num_style_layers], outputs[self.num_style_layers :]
        style = [gram_matrix(s) for s in style]
        return {"style": style, "content": content}


extractor = StyleContentModel(style_layers, content_layers)
content_image = tf.constant(np.random.rand(1, 8, 8, 3), tf.float32)
targets = extractor(content_image)
image = tf.Variable(content_image)
opt = tf.keras.optimizers.Adam(learning_rate=0.02, beta_1=0.99, epsilon=1e-1)


def style_content_loss(outputs):
    style_loss = tf.add_n([tf.reduce_mean((a - b) ** 2) for a, b in zip(outputs["style"], targets["style"])])
    content_loss = tf.add_n([tf.reduce_mean((a - b) ** 2) for a, b in zip(outputs["content"], targets["content"])])
    return style_loss * 1e-2 + content_loss * 1e4


@tf.function()
def train_step(image):
    with tf.GradientTape() as tape:
        outputs = extractor(image)
        loss = style_content_loss(outputs)
        loss += 30 * tf.image.total_variation(image)[0]
    grad = tape.gradient(loss, image)
    opt.apply_gradients([(grad, image)])
    image.assign(clip_0_1(image))
    return loss


for step in range(2):
    print(step, train_step(image).numpy())
high_pass = functools.partial(tf.image.sobel_edges)
print(high_pass(image).shape, tf.image.resize(image, (4, 4)).numpy().mean())
