import tensorflow as tf
from tensorflow import keras

ACTIVATIONS = {"relu": tf.nn.relu, "swish": tf.nn.silu, None: tf.identity}
LAYERS = dict(dense=keras.layers.Dense, conv=keras.layers.Conv1D)
OPTIMIZERS = {"adam": lambda lr: keras.optimizers.Adam(lr), "sgd": keras.optimizers.SGD}


def activation(name):
    return ACTIVATIONS[name]


def make_layer(kind, *args, **kwargs):
    return LAYERS[kind](*args, **kwargs)


def make_dataset(n, batch=2):
    def to_pair(i):
        x = tf.cast(tf.stack([i, i + 1]), tf.float32)
        return x, tf.reduce_sum(x, keepdims=True)

    return tf.data.Dataset.range(n).map(to_pair).batch(batch)


def make_model_and_optimizer(name="adam"):
    model = keras.Sequential([make_layer("dense", 2), keras.layers.Activation(activation("relu")), make_layer("dense", 1)])
    return model, OPTIMIZERS[name](0.1)


def make_step(model, optimizer):
    loss_fn = keras.losses.MeanAbsoluteError()

    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_fn(y, model(x))
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    return step


def build_all():
    return {name: make_model_and_optimizer(name)[0] for name in ("adam", "sgd")}


model, optimizer = make_model_and_optimizer()
step = make_step(model, optimizer)
for x, y in make_dataset(4):
    print(step(x, y).numpy())
print(activation("swish")(tf.constant(1.0)).numpy(), make_layer("conv", 1, 1)(tf.ones((1, 2, 1))).shape)
for net in build_all().values():
    net.build((None, 2))
    print(net.predict(tf.ones((1, 2)), verbose=0))
sgd = OPTIMIZERS["sgd"](learning_rate=0.2)
print(sgd.learning_rate.numpy(), make_dataset(2).unbatch().cardinality().numpy())
