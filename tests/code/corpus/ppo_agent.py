"""Proximal policy optimisation on a toy environment; closures, buffers, tf.Module policies."""
import collections
import itertools
from typing import NamedTuple

import numpy as np
import tensorflow as tf
import tensorflow.keras.layers as kl
import tensorflow.keras.optimizers as ko


class Transition(NamedTuple):
    obs: tf.Tensor
    action: tf.Tensor
    logp: tf.Tensor
    ret: tf.Tensor


class LineWorld:
    def __init__(self, size=5):
        self.size = size
        self.state = 0

    def reset(self):
        self.state = self.size // 2
        return self._observe()

    def _observe(self):
        return np.eye(self.size, dtype=np.float32)[self.state]

    def step(self, action):
        self.state = int(np.clip(self.state + (1 if action else -1), 0, self.size - 1))
        done = self.state in (0, self.size - 1)
        return self._observe(), float(self.state == self.size - 1), done, {}


class Policy(tf.keras.Model):
    def __init__(self, num_actions):
        super().__init__(name='mlp_policy')
        self.hidden1 = kl.Dense(8, activation='relu')
        self.hidden2 = kl.Dense(8, activation='relu')
        self.value = kl.Dense(1, name='value')
        self.logits = kl.Dense(num_actions, name='policy_logits')

    def call(self, inputs, **kwargs):
        x = tf.convert_to_tensor(inputs)
        hidden_logs = self.hidden1(x)
        hidden_vals = self.hidden2(x)
        return self.logits(hidden_logs), self.value(hidden_vals)

    def action_value(self, obs):
        logits, value = self.predict_on_batch(obs)
        action = tf.squeeze(tf.random.categorical(logits, 1), axis=-1)
        return action, np.squeeze(value, axis=-1)


def log_prob(logits, actions):
    return -tf.nn.sparse_softmax_cross_entropy_with_logits(labels=actions, logits=logits)


def entropy(logits):
    probs = tf.nn.softmax(logits)
    return -tf.reduce_sum(probs * tf.nn.log_softmax(logits), axis=-1)


def discounted(rewards, gamma=0.95):
    out, running = [], 0.0
    for reward in reversed(rewards):
        running = reward + gamma * running
        out.append(running)
    return out[::-1]


class Agent:
    params = dict(value=0.5, entropy=0.01, clip=0.2)

    def __init__(self, model, lr=7e-3):
        self.model = model
        self.opt = ko.RMSprop(learning_rate=lr)
        self.memory = collections.deque(maxlen=100)
        self.writer = tf.summary.create_file_writer('logs/ppo')

    def play(self, env, episodes):
        for _ in range(episodes):
            obs, done, rows = env.reset(), False, []
            while not done and len(rows) < 10:
                action, _ = self.model.action_value(obs[None, :])
                logits, _ = self.model(obs[None])
                logp = log_prob(logits, action)
                next_obs, reward, done, _ = env.step(int(action[0]))
                rows.append((obs, action[0], logp[0], reward))
                obs = next_obs
            returns = discounted([row[-1] for row in rows])
            for (obs, action, logp, _), ret in zip(rows, returns):
                self.memory.append(Transition(tf.constant(obs), action, logp, tf.cast(ret, tf.float32)))
            yield sum(row[-1] for row in rows)

    def batch(self):
        columns = zip(*self.memory)
        return Transition(*(tf.stack(list(column)) for column in columns))

    def surrogate(self, batch):
        logits, values = self.model(batch.obs)
        advantage = batch.ret - tf.squeeze(values, -1)
        ratio = tf.exp(log_prob(logits, batch.action) - tf.stop_gradient(batch.logp))
        clipped = tf.clip_by_value(ratio, 1 - self.params['clip'], 1 + self.params['clip'])
        gain = tf.minimum(ratio * tf.stop_gradient(advantage), clipped * tf.stop_gradient(advantage))
        value_loss = tf.reduce_mean(tf.square(advantage))
        return (-tf.reduce_mean(gain) + self.params['value'] * value_loss
                - self.params['entropy'] * tf.reduce_mean(entropy(logits)))

    def learn(self, epochs=2):
        batch = self.batch()
        for epoch in range(epochs):
            with tf.GradientTape() as tape:
                loss = self.surrogate(batch)
            grads = tape.gradient(loss, self.model.trainable_weights)
            grads = [tf.clip_by_norm(g, 0.5) for g in grads]
            self.opt.apply_gradients(zip(grads, self.model.trainable_weights))
            with self.writer.as_default(step=epoch):
                tf.summary.write('loss', loss)
                tf.summary.write('returns', batch.ret)
        self.memory.clear()
        return loss.numpy().item()


def main():
    env = LineWorld()
    model = Policy(num_actions=2)
    agent = Agent(model)
    for iteration in itertools.count():
        rewards = list(agent.play(env, 2))
        loss = agent.learn()
        print(f"iteration {iteration}: reward {np.mean(rewards):.2f} loss {loss:.3f}")
        if iteration >= 1:
            break
    target = Policy(num_actions=2)
    target(env.reset()[None])
    target.set_weights(model.get_weights())
    for var, target_var in zip(model.variables, target.variables):
        target_var.assign(0.9 * target_var + 0.1 * var)
    target.save_weights('policy.weights.h5')


if __name__ == '__main__':
    main()
