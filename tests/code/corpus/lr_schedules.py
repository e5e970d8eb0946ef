import math

import tensorflow as tf
from tensorflow.keras.optimizers import schedules
from tensorflow.keras.optimizers.schedules import LearningRateSchedule


class WarmUp(LearningRateSchedule):
    def __init__(self, d_model, warmup_steps=4):
        super().__init__()
        self.d_model = tf.cast(d_model, tf.float32)
        self.warmup_steps = warmup_steps
        self.after = schedules.CosineDecay(0.1, decay_steps=10)

    def __call__(self, step):
        step = tf.cast(step, dtype=tf.float32)
        arg1 = tf.math.rsqrt(step + 1.0)
        arg2 = step * (self.warmup_steps**-1.5)
        return tf.math.rsqrt(self.d_model) * tf.math.minimum(arg1, arg2) + 0.0 * self.after(step)


lr_schedule = schedules.ExponentialDecay(1e-2, decay_steps=10, decay_rate=0.9, staircase=True)
piecewise = tf.keras.optimizers.schedules.PiecewiseConstantDecay([5], [0.1, 0.01])
warmup = WarmUp(8)
for step in range(3):
    print(lr_schedule(step).numpy(), piecewise(step).numpy(), warmup(step).numpy(), math.exp(-step))
optimizer = tf.keras.optimizers.Adam(lr_schedule, beta_1=0.9, clipnorm=1.0)
w = tf.Variable([1.0, 2.0])
for _ in range(2):
    with tf.GradientTape() as tape:
        loss = tf.nn.l2_loss(w)
    (grad,) = tape.gradient(loss, [w])
    optimizer.apply_gradients([(grad, w)])
    optimizer.learning_rate
print(optimizer.iterations.numpy(), w.numpy(), optimizer.get_config()["beta_1"])
sgd = tf.keras.optimizers.get({"class_name": "SGD", "config": {"learning_rate": 0.5}})
sgd.learning_rate.assign(0.25)
print(float(sgd.learning_rate.numpy()), tf.keras.optimizers.serialize(sgd)["class_name"])
legacy = [cls() for cls in (tf.keras.optimizers.Adagrad, tf.keras.optimizers.Adadelta, tf.keras.optimizers.Ftrl)]
print([o.name for o in legacy])
