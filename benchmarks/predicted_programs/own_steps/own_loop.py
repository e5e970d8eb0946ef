"""A compiled training step of the program's own."""
import tensorflow as tf

batch = 64
x_train = tf.random.normal((3200, 20))
y_train = tf.reduce_sum(x_train, axis=1, keepdims=True)
dataset = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(1024).batch(batch)

model = tf.keras.Sequential([
    tf.keras.Input((20,)),
    tf.keras.layers.Dense(128, activation="tanh"),
    tf.keras.layers.Dense(128, activation="tanh"),
    tf.keras.layers.Dense(1),
])
optimizer = tf.keras.optimizers.Adam()
loss_fn = tf.keras.losses.MeanSquaredError()


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(8):
    for x, y in dataset:
        loss = train_step(x, y)
    print(epoch, float(loss))
