"""Actor-critic on a tiny hand-made environment, with tf.numpy_function, tf.TensorArray and tf.while_loop."""
import collections
import statistics
from typing import Any, List, Sequence, Tuple

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

seed = 42
tf.random.set_seed(seed)
np.random.seed(seed)
eps = np.finfo(np.float32).eps.item()


class LineWorld:
    """Walk to the right end."""

    def __init__(self, size=5):
        self.size, self.at, self.steps = size, 0, 0
        self.action_space = collections.namedtuple("Space", "n")(2)

    def reset(self):
        self.at = self.steps = 0
        return np.array([self.at, 0.0], np.float32), {}

    def step(self, action):
        self.steps += 1
        self.at = max(0, self.at + (1 if action else -1))
        done = self.at >= self.size or self.steps >= 8
        return np.array([self.at, self.steps], np.float32), 1.0 if self.at >= self.size else -0.1, done, False, {}


env = LineWorld()


class ActorCritic(tf.keras.Model):
    """Combined actor-critic network."""

    def __init__(self, num_actions: int, num_hidden_units: int):
        super().__init__()
        self.common = layers.Dense(num_hidden_units, activation="relu")
        self.actor = layers.Dense(num_actions)
        self.critic = layers.Dense(1)

    def call(self, inputs: tf.Tensor) -> Tuple[tf.Tensor, tf.Tensor]:
        x = self.common(inputs)
        return self.actor(x), self.critic(x)


model = ActorCritic(env.action_space.n, 16)


@tf.numpy_function(Tout=[tf.float32, tf.int32, tf.int32])
def env_step(action: np.ndarray) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    state, reward, done, truncated, info = env.step(action)
    return (state.astype(np.float32), np.array(reward, np.int32), np.array(done, np.int32))


def run_episode(initial_state: tf.Tensor, model: tf.keras.Model, max_steps: int) -> Tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    action_probs = tf.TensorArray(dtype=tf.float32, size=0, dynamic_size=True)
    values = tf.TensorArray(dtype=tf.float32, size=0, dynamic_size=True)
    rewards = tf.TensorArray(dtype=tf.int32, size=0, dynamic_size=True)
    initial_state_shape = initial_state.shape
    state = initial_state
    for t in tf.range(max_steps):
        state = tf.expand_dims(state, 0)
        action_logits_t, value = model(state)
        action = tf.random.categorical(action_logits_t, 1)[0, 0]
        action_probs_t = tf.nn.softmax(action_logits_t)
        values = values.write(t, tf.squeeze(value))
        action_probs = action_probs.write(t, action_probs_t[0, action])
        state, reward, done = env_step(action)
        state.set_shape(initial_state_shape)
        rewards = rewards.write(t, reward)
        if tf.cast(done, tf.bool):
            break
    action_probs = action_probs.stack()
    values = values.stack()
    rewards = rewards.stack()
    return action_probs, values, rewards


def get_expected_return(rewards: tf.Tensor, gamma: float, standardize: bool = True) -> tf.Tensor:
    n = tf.shape(rewards)[0]
    returns = tf.TensorArray(dtype=tf.float32, size=n)
    rewards = tf.cast(rewards[::-1], dtype=tf.float32)

    def body(i, total, acc):
        total = rewards[i] + gamma * total
        total.set_shape([])
        return i + 1, total, acc.write(i, total)

    _, _, returns = tf.while_loop(
        cond=lambda i, *_: tf.less(i, n), body=body, loop_vars=(tf.constant(0), tf.constant(0.0), returns))
    returns = returns.stack()[::-1]
    if standardize:
        returns = ((returns - tf.math.reduce_mean(returns)) / (tf.math.reduce_std(returns) + eps))
    return returns


huber_loss = tf.keras.losses.Huber(reduction="sum")


def compute_loss(action_probs: tf.Tensor, values: tf.Tensor, returns: tf.Tensor) -> tf.Tensor:
    advantage = returns - values
    action_log_probs = tf.math.log(action_probs)
    actor_loss = -tf.math.reduce_sum(action_log_probs * advantage)
    critic_loss = huber_loss(values, returns)
    return actor_loss + critic_loss


optimizer = tf.keras.optimizers.Adam(learning_rate=0.01)


@tf.function
def train_step(initial_state, model, optimizer, gamma, max_steps_per_episode):
    with tf.GradientTape() as tape:
        action_probs, values, rewards = run_episode(initial_state, model, max_steps_per_episode)
        returns = get_expected_return(rewards, gamma)
        action_probs, values, returns = [tf.expand_dims(x, 1) for x in [action_probs, values, returns]]
        loss = compute_loss(action_probs, values, returns)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return tf.math.reduce_sum(rewards)


episodes_reward: collections.deque = collections.deque(maxlen=3)
for i in range(3):
    initial_state, info = env.reset()
    initial_state = tf.constant(initial_state, dtype=tf.float32)
    episode_reward = int(train_step(initial_state, model, optimizer, 0.99, 8))
    episodes_reward.append(episode_reward)
    running_reward = statistics.mean(episodes_reward)
    if i % 2 == 0:
        print(f"Episode {i}: average reward: {running_reward}")


def render_episode(env, model, max_steps):
    state, info = env.reset()
    state = tf.constant(state, dtype=tf.float32)
    images = []
    for i in range(1, max_steps + 1):
        state = tf.expand_dims(state, 0)
        action_probs, _ = model(state)
        action = np.argmax(np.squeeze(action_probs))
        state, reward, done, truncated, info = env.step(action)
        state = tf.constant(state, dtype=tf.float32)
        images.append(tf.one_hot(tf.cast(state[0], tf.int32), env.size).numpy())
        if done:
            break
    return np.stack(images)


print(render_episode(env, model, 4).shape)
