import tensorflow as tf

def sample(n=2):
    return tf.ones((n, 3))

class Engine:
    def __init__(self, net):
        self.net = net
        self.callbacks = [tf.keras.callbacks.History()]
        self.log = []

    def __enter__(self):
        return self

    def __exit__(self, *a):
        pass

    def train(self, steps):
        for _ in range(steps):
            out = self.net(sample())
            self.log.append(self.net.train_on_batch(sample(), tf.zeros_like(out)))
        return self
