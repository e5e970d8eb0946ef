import tensorflow as tf

from . import losses


class Engine:
    def __init__(self, generator, critic, objective: losses.Objective, settings):
        self.generator, self.critic, self.objective, self.settings = generator, critic, objective, settings
        self.optimizers = {
            name: tf.keras.optimizers.Adam(settings.lr, beta_1=0.5) for name in ("generator", "critic")
        }
        self.means = {name: tf.keras.metrics.Mean(name) for name in self.optimizers}

    @tf.function
    def step(self, real):
        noise = self.generator.noise(tf.shape(real)[0])
        with tf.GradientTape(persistent=True) as tape:
            fake = self.generator(noise)
            scores = self.critic(tf.concat([real, fake], 0))
            real_scores, fake_scores = tf.split(scores, 2)
            totals = {
                "critic": self.objective.critic(real_scores, fake_scores),
                "generator": self.objective.generator(fake_scores),
            }
        for name, net in (("critic", self.critic), ("generator", self.generator)):
            gradients = tape.gradient(totals[name], net.trainable_variables)
            self.optimizers[name].apply_gradients(zip(gradients, net.trainable_variables))
        return totals

    def run(self, batches):
        for number, real in zip(range(self.settings.steps), batches):
            for name, value in self.step(real).items():
                self.means[name].update_state(value)
            yield {"step": number, **{name: mean.result().numpy() for name, mean in self.means.items()}}

    def sample(self, n):
        return self.generator(self.generator.noise(n))

    def save(self, path="gan.weights.h5"):
        self.generator.save_weights(path)
        self.critic.save("critic.keras")
