import keras
import tensorflow as tf
from keras import layers


class Distiller(keras.Model):
    def __init__(self, student, teacher):
        super().__init__()
        self.teacher = teacher
        self.student = student

    def compile(self, optimizer, metrics, student_loss_fn, distillation_loss_fn, alpha=0.1, temperature=3):
        super().compile(optimizer=optimizer, metrics=metrics)
        self.student_loss_fn = student_loss_fn
        self.distillation_loss_fn = distillation_loss_fn
        self.alpha = alpha
        self.temperature = temperature

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, allow_empty=False):
        teacher_pred = self.teacher(x, training=False)
        student_loss = self.student_loss_fn(y, y_pred)
        distillation_loss = self.distillation_loss_fn(
            tf.nn.softmax(teacher_pred / self.temperature, axis=1), tf.nn.softmax(y_pred / self.temperature, axis=1)
        )
        return self.alpha * student_loss + (1 - self.alpha) * distillation_loss

    def call(self, x):
        return self.student(x)


def make(width, name):
    return keras.Sequential([keras.Input((4,)), layers.Dense(width), layers.LeakyReLU(negative_slope=0.2), layers.Dense(3)], name=name)


teacher, student = make(8, "teacher"), make(2, "student")
scratch = keras.models.clone_model(student)
x = tf.random.normal((12, 4))
y = tf.random.uniform((12,), maxval=3, dtype=tf.int32)
for m in [teacher, scratch]:
    m.compile(optimizer="adam", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
teacher.fit(x, y, epochs=1, verbose=0)
distiller = Distiller(student=student, teacher=teacher)
distiller.compile(
    optimizer=keras.optimizers.Adam(),
    metrics=[keras.metrics.SparseCategoricalAccuracy()],
    student_loss_fn=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    distillation_loss_fn=keras.losses.KLDivergence(),
)
distiller.fit(x, y, epochs=1, verbose=0)
print(distiller.evaluate(x, y, verbose=0), scratch.predict(x[:1], verbose=0), student(x[:1]).numpy())
with open("student.json", "w") as handle:
    handle.write(student.to_json())
