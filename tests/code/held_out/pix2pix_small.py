import tensorflow as tf
import time
OUTPUT_CHANNELS = 3
LAMBDA = 100
IMG = 32


def load(seed):
    image = tf.random.stateless_uniform([IMG, IMG * 2, 3], seed=[seed, 1]) * 255
    w = tf.shape(image)[1] // 2
    return tf.cast(image[:, w:, :], tf.float32), tf.cast(image[:, :w, :], tf.float32)


def resize(a, b, height, width):
    return [tf.image.resize(t, [height, width], method=tf.image.ResizeMethod.NEAREST_NEIGHBOR) for t in (a, b)]


@tf.function()
def random_jitter(a, b):
    a, b = resize(a, b, IMG + 4, IMG + 4)
    stacked = tf.stack([a, b], axis=0)
    cropped = tf.image.random_crop(stacked, size=[2, IMG, IMG, 3])
    a, b = cropped[0], cropped[1]
    if tf.random.uniform(()) > 0.5:
        a, b = tf.image.flip_left_right(a), tf.image.flip_left_right(b)
    return a / 127.5 - 1, b / 127.5 - 1


train_dataset = tf.data.Dataset.range(2).map(load, num_parallel_calls=tf.data.AUTOTUNE).map(random_jitter).batch(1)


def downsample(filters, size, apply_batchnorm=True):
    initializer = tf.random_normal_initializer(0., 0.02)
    result = tf.keras.Sequential()
    result.add(tf.keras.layers.Conv2D(filters, size, strides=2, padding='same', kernel_initializer=initializer, use_bias=False))
    if apply_batchnorm:
        result.add(tf.keras.layers.BatchNormalization())
    result.add(tf.keras.layers.LeakyReLU())
    return result


def upsample(filters, size, apply_dropout=False):
    initializer = tf.random_normal_initializer(0., 0.02)
    result = tf.keras.Sequential([tf.keras.layers.Conv2DTranspose(filters, size, strides=2, padding='same', kernel_initializer=initializer)])
    result.add(tf.keras.layers.BatchNormalization())
    if apply_dropout:
        result.add(tf.keras.layers.Dropout(0.5))
    result.add(tf.keras.layers.ReLU())
    return result


down_model = downsample(3, 4)
print(down_model(tf.ones([1, IMG, IMG, 3])).shape)


def Generator():
    inputs = tf.keras.layers.Input(shape=[IMG, IMG, 3])
    down_stack = [downsample(4, 4, apply_batchnorm=False), downsample(8, 4), downsample(8, 4)]
    up_stack = [upsample(8, 4, apply_dropout=True), upsample(4, 4)]
    last = tf.keras.layers.Conv2DTranspose(OUTPUT_CHANNELS, 4, strides=2, padding='same', activation='tanh')
    x = inputs
    skips = []
    for down in down_stack:
        x = down(x)
        skips.append(x)
    skips = reversed(skips[:-1])
    for up, skip in zip(up_stack, skips):
        x = up(x)
        x = tf.keras.layers.Concatenate()([x, skip])
    x = last(x)
    return tf.keras.Model(inputs=inputs, outputs=x)


def Discriminator():
    inp = tf.keras.layers.Input(shape=[IMG, IMG, 3], name='input_image')
    tar = tf.keras.layers.Input(shape=[IMG, IMG, 3], name='target_image')
    x = tf.keras.layers.concatenate([inp, tar])
    down1 = downsample(4, 4, False)(x)
    zero_pad1 = tf.keras.layers.ZeroPadding2D()(down1)
    conv = tf.keras.layers.Conv2D(8, 4, strides=1, use_bias=False)(zero_pad1)
    leaky_relu = tf.keras.layers.LeakyReLU()(tf.keras.layers.BatchNormalization()(conv))
    return tf.keras.Model(inputs=[inp, tar], outputs=tf.keras.layers.Conv2D(1, 4)(leaky_relu))


generator, discriminator = Generator(), Discriminator()
loss_object = tf.keras.losses.BinaryCrossentropy(from_logits=True)


def generator_loss(disc_generated_output, gen_output, target):
    gan_loss = loss_object(tf.ones_like(disc_generated_output), disc_generated_output)
    l1_loss = tf.reduce_mean(tf.abs(target - gen_output))
    return gan_loss + (LAMBDA * l1_loss), gan_loss, l1_loss


def discriminator_loss(real, generated):
    return loss_object(tf.ones_like(real), real) + loss_object(tf.zeros_like(generated), generated)


generator_optimizer = tf.keras.optimizers.Adam(2e-4, beta_1=0.5)
discriminator_optimizer = tf.keras.optimizers.Adam(2e-4, beta_1=0.5)


@tf.function
def train_step(input_image, target, step):
    with tf.GradientTape() as gen_tape, tf.GradientTape() as disc_tape:
        gen_output = generator(input_image, training=True)
        disc_real_output = discriminator([input_image, target], training=True)
        disc_generated_output = discriminator([input_image, gen_output], training=True)
        gen_total_loss, gen_gan_loss, gen_l1_loss = generator_loss(disc_generated_output, gen_output, target)
        disc_loss = discriminator_loss(disc_real_output, disc_generated_output)
    for tape, total, net, opt in ((gen_tape, gen_total_loss, generator, generator_optimizer),
                                  (disc_tape, disc_loss, discriminator, discriminator_optimizer)):
        grads = tape.gradient(total, net.trainable_variables)
        opt.apply_gradients(zip(grads, net.trainable_variables))
    return gen_total_loss, disc_loss


def fit(train_ds, steps):
    example_target, example_input = next(iter(train_ds.take(1)))
    for step, (target, input_image) in train_ds.repeat().take(steps).enumerate():
        g, d = train_step(input_image, target, step)
        if step % 1 == 0:
            print(f"Step: {step.numpy()} {g.numpy():.2f} {d.numpy():.2f}")
    prediction = generator(example_input, training=True)
    display_list = [example_input[0], example_target[0], prediction[0]]
    for title, picture in zip(['Input', 'Truth', 'Predicted'], display_list):
        print(title, (picture * 0.5 + 0.5).numpy().mean())


fit(train_dataset, steps=2)
