import collections

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

eps = np.finfo(np.float32).eps.item()


class FakeEnv:
    def __init__(self):
        self.steps = 0

    def reset(self):
        self.steps = 0
        return np.zeros(3, np.float32)

    def step(self, action):
        self.steps += 1
        return np.ones(3, np.float32), 1.0, self.steps > 2


class ActorCritic(tf.keras.Model):
    def __init__(self, num_actions: int, num_hidden_units: int):
        super().__init__()
        self.common = layers.Dense(num_hidden_units, activation="relu")
        self.actor = layers.Dense(num_actions)
        self.critic = layers.Dense(1)

    def call(self, inputs: tf.Tensor):
        x = self.common(inputs)
        return self.actor(x), self.critic(x)


def run_episode(env, model):
    action_probs = tf.TensorArray(dtype=tf.float32, size=0, dynamic_size=True)
    values = tf.TensorArray(dtype=tf.float32, size=0, dynamic_size=True)
    rewards = []
    state, done, t = env.reset(), False, 0
    while not done:
        state = tf.expand_dims(tf.convert_to_tensor(state), 0)
        logits, value = model(state)
        action = tf.random.categorical(logits, 1)[0, 0]
        probs = tf.nn.softmax(logits)
        values = values.write(t, tf.squeeze(value))
        action_probs = action_probs.write(t, probs[0, action])
        state, reward, done = env.step(int(action))
        rewards.append(reward)
        t += 1
    return action_probs.stack(), values.stack(), tf.constant(rewards, dtype=tf.float32)


def get_expected_return(rewards, gamma=0.99, standardize=True):
    n = tf.shape(rewards)[0]
    returns = tf.TensorArray(dtype=tf.float32, size=n)
    rewards = tf.cast(rewards[::-1], dtype=tf.float32)
    discounted_sum = tf.constant(0.0)
    for i in tf.range(n):
        discounted_sum = rewards[i] + gamma * discounted_sum
        returns = returns.write(i, discounted_sum)
    returns = returns.stack()[::-1]
    if standardize:
        returns = (returns - tf.math.reduce_mean(returns)) / (tf.math.reduce_std(returns) + eps)
    return returns


huber_loss = tf.keras.losses.Huber(reduction="sum")


def compute_loss(action_probs, values, returns):
    advantage = returns - values
    actor_loss = -tf.math.reduce_sum(tf.math.log(action_probs) * advantage)
    critic_loss = huber_loss(values, returns)
    return actor_loss + critic_loss


optimizer = tf.keras.optimizers.Adam(learning_rate=0.01)
model = ActorCritic(2, 4)
running = collections.deque(maxlen=3)
for _ in range(2):
    with tf.GradientTape() as tape:
        probs, values, rewards = run_episode(FakeEnv(), model)
        returns = get_expected_return(rewards)
        loss = compute_loss(probs, values, returns)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    running.append(float(tf.math.reduce_sum(rewards)))
print(np.mean(running), loss.numpy())
