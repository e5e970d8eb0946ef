import tensorflow as tf
from tensorflow.keras import layers, mixed_precision

policy = mixed_precision.Policy("mixed_float16")
mixed_precision.set_global_policy(policy)
print(policy.compute_dtype, mixed_precision.global_policy().name)
inputs = tf.keras.Input(shape=(4,))
x = layers.Dense(4, activation="relu")(inputs)
outputs = layers.Activation("softmax", dtype="float32")(layers.Dense(2)(x))
model = tf.keras.Model(inputs, outputs)
mixed_precision.set_global_policy("float32")
model.compile(loss="sparse_categorical_crossentropy", optimizer="sgd", jit_compile=False)
print(model.train_on_batch(tf.ones((2, 4)), tf.zeros(2)))


@tf.function(jit_compile=True)
def fused(a, b):
    return tf.reduce_sum(tf.nn.relu(tf.matmul(a, b)))


print(fused(tf.ones((2, 2)), tf.ones((2, 2))).numpy())
print(fused.experimental_get_tracing_count())
eager_before = tf.config.functions_run_eagerly()
tf.config.run_functions_eagerly(True)
print(fused(tf.ones((1, 1)), tf.ones((1, 1))).numpy(), eager_before)
tf.config.run_functions_eagerly(False)
optimizer = mixed_precision.LossScaleOptimizer(tf.keras.optimizers.SGD(0.1))
v = tf.Variable(1.0)
with tf.GradientTape() as tape:
    loss = optimizer.scale_loss(v * 2.0)
grads = tape.gradient(loss, [v])
optimizer.apply_gradients(zip(grads, [v]))
print(v.numpy(), tf.cast(v, tf.float16).dtype.name, tf.as_dtype("float32").size)
tf.debugging.assert_equal(tf.constant(1), 1)
tf.random.set_seed(1)
gen = tf.random.Generator.from_seed(1)
print(gen.normal([2]).numpy(), tf.random.stateless_uniform([1], seed=(1, 2)).numpy(), gen.split(2)[0].uniform([1]))
