import tensorflow as tf

TRUE_W, TRUE_B = 3.0, 2.0
x = tf.random.normal(shape=[50])
noise = tf.random.normal(shape=[50])
y = x * TRUE_W + TRUE_B + noise


class MyModel(tf.Module):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.w = tf.Variable(5.0)
        self.b = tf.Variable(0.0)

    def __call__(self, x):
        return self.w * x + self.b


def loss(target_y, predicted_y):
    return tf.reduce_mean(tf.square(target_y - predicted_y))


def train(model, x, y, learning_rate):
    with tf.GradientTape() as t:
        current_loss = loss(y, model(x))
    dw, db = t.gradient(current_loss, [model.w, model.b])
    model.w.assign_sub(learning_rate * dw)
    model.b.assign_sub(learning_rate * db)


model = MyModel()
weights, biases = [], []
for epoch in range(2):
    train(model, x, y, learning_rate=0.1)
    weights.append(model.w.numpy())
    biases.append(model.b.numpy())
    print(f"Epoch {epoch}: W={weights[-1]:1.2f} loss={loss(y, model(x)):2.5f}")
with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    z = tf.sin(x)
    q = z * tf.cos(x)
print(tape.gradient(z, x).numpy()[:2], tape.gradient(q, x).shape)
del tape
with tf.GradientTape() as outer:
    v = tf.Variable(2.0)
    with tf.GradientTape() as inner:
        cube = v**3
    first = inner.gradient(cube, v)
second = outer.gradient(first, v)
print(second.numpy(), [var.name for var in model.trainable_variables])
optimizer = tf.keras.optimizers.SGD(learning_rate=0.1)
with tf.GradientTape() as g:
    objective = loss(y, model(x))
grads = g.gradient(objective, model.trainable_variables)
clipped, norm = tf.clip_by_global_norm(grads, 1.0)
optimizer.apply_gradients(zip(clipped, model.trainable_variables))
print(norm.numpy(), optimizer.iterations.numpy())
