import random
from collections import deque

import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import Dense
from tensorflow.keras.models import Sequential
from tensorflow.keras.optimizers import Adam


class DQNAgent:
    def __init__(self, state_size, action_size):
        self.state_size = state_size
        self.action_size = action_size
        self.memory = deque(maxlen=50)
        self.gamma = 0.95
        self.epsilon = 0.0
        self.model = self._build_model()
        self.target_model = self._build_model()
        self.update_target_model()

    def _build_model(self):
        model = Sequential()
        model.add(Dense(8, input_dim=self.state_size, activation="relu"))
        model.add(Dense(self.action_size, activation="linear"))
        model.compile(loss="mse", optimizer=Adam(learning_rate=0.001))
        return model

    def update_target_model(self):
        self.target_model.set_weights(self.model.get_weights())

    def remember(self, state, action, reward, next_state, done):
        self.memory.append((state, action, reward, next_state, done))

    def act(self, state):
        if np.random.rand() < self.epsilon:
            return random.randrange(self.action_size)
        act_values = self.model.predict(state, verbose=0)
        return np.argmax(act_values[0])

    def replay(self, batch_size):
        minibatch = random.sample(self.memory, batch_size)
        for state, action, reward, next_state, done in minibatch:
            target = self.model.predict_on_batch(state)
            if done:
                target[0][action] = reward
            else:
                t = self.target_model(next_state, training=False).numpy()[0]
                target[0][action] = reward + self.gamma * np.amax(t)
            self.model.train_on_batch(state, target)

    def save(self, name):
        self.model.save_weights(name)

    def load(self, name):
        self.model.load_weights(name)


class PolicyNetwork(tf.keras.Model):
    def __init__(self, n):
        super().__init__()
        self.logits_layer = tf.keras.layers.Dense(n)

    def call(self, s):
        return self.logits_layer(tf.convert_to_tensor(s))

    def action(self, s):
        logits = self.predict_on_batch(s)
        return tf.squeeze(tf.random.categorical(logits, 1), axis=-1)


agent = DQNAgent(3, 2)
state = np.zeros((1, 3))
for e in range(3):
    action = agent.act(state)
    agent.remember(state, action, 1.0, state, e == 2)
agent.replay(2)
agent.save("dqn.weights.h5")
agent.load("dqn.weights.h5")
policy = PolicyNetwork(2)
print(policy.action(np.ones((1, 3))).numpy(), policy(np.ones((1, 3))))
