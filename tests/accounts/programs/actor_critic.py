"""Reinforcement learning: an actor-critic on a small pole-like world of its own."""

import keras
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(3)
inputs = keras.layers.Input((4,))
common = keras.layers.Dense(64, activation="relu")(inputs)
model = keras.Model(
    inputs, [keras.layers.Dense(2, activation="softmax")(common), keras.layers.Dense(1)(common)]
)
optimizer = keras.optimizers.Adam(0.01)
huber = keras.losses.Huber()


def world(state, action):
    state = (
        state + 0.1 * np.array([state[1], action - 0.5, state[3], 0.3 * state[0]]) + rng.normal(size=4) * 0.01
    )
    return state, float(abs(state[0]) < 1.0), abs(state[0]) > 2.0


for episode in range(3):
    state = rng.normal(size=4) * 0.05
    with tf.GradientTape() as tape:
        history, values, rewards = [], [], []
        for _ in range(40):
            probabilities, value = model(tf.convert_to_tensor(state[None], dtype=tf.float32))
            action = rng.choice(2, p=np.squeeze(probabilities) / np.sum(probabilities))
            history.append(tf.math.log(probabilities[0, action]))
            values.append(value[0, 0])
            state, reward, done = world(state, action)
            rewards.append(reward)
            if done:
                break
        returns, running = [], 0.0
        for reward in rewards[::-1]:
            running = reward + 0.99 * running
            returns.insert(0, running)
        losses = [
            -log * (target - value) + huber([target], [value])
            for log, value, target in zip(history, values, returns)
        ]
        loss = sum(losses)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    print("episode", episode, len(rewards))
