"""REINFORCE on a small corridor."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

np.random.seed(4)
tf.random.set_seed(4)
policy = keras.Sequential(
    [
        keras.Input((2,)),
        keras.layers.Dense(16, activation="relu"),
        keras.layers.Dense(2, activation="softmax"),
    ]
)
optimizer = keras.optimizers.Adam(0.01)


class Corridor:
    def reset(self):
        self.place, self.time = 3, 0
        return self.state()

    def state(self):
        return np.array([self.place / 6, self.time / 30], dtype="float32")

    def step(self, action):
        self.place += 1 if action == 1 else -1
        self.time += 1
        done = self.place in (0, 6) or self.time >= 30
        return self.state(), float(self.place == 6), done


env = Corridor()
rewards = []
for episode in range(60):
    state, done, total = env.reset(), False, 0.0
    states, actions, gains = [], [], []
    while not done:
        probabilities = policy(tf.expand_dims(state, 0))
        action = np.random.choice(2, p=np.squeeze(probabilities) / np.sum(probabilities))
        states.append(state)
        actions.append(action)
        state, reward, done = env.step(action)
        gains.append(reward)
        total += reward
    returns = np.cumsum(np.array(gains, dtype="float32")[::-1])[::-1]
    with tf.GradientTape() as tape:
        loss = 0.0
        for s, a, g in zip(states, actions, returns):
            p = policy(tf.expand_dims(s, 0))
            loss -= tf.math.log(p[0, a] + 1e-8) * float(g)
    grads = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(grads, policy.trainable_variables))
    rewards.append(total)
print("mean reward of the last 20:", np.mean(rewards[-20:]))
