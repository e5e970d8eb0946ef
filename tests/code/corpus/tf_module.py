import tensorflow as tf


class Dense(tf.Module):
    """Not Keras's: a module of one's own with a well-known name."""

    def __init__(self, in_features, out_features, name=None):
        super().__init__(name=name)
        self.w = tf.Variable(tf.random.normal([in_features, out_features]), name="w")
        self.b = tf.Variable(tf.zeros([out_features]), name="b")

    def __call__(self, x):
        y = tf.matmul(x, self.w) + self.b
        return tf.nn.relu(y)


class FlexibleDense(tf.Module):
    def __init__(self, out_features):
        super().__init__()
        self.is_built = False
        self.out_features = out_features

    @tf.Module.with_name_scope
    def __call__(self, x):
        if not self.is_built:
            self.w = tf.Variable(tf.random.normal([x.shape[-1], self.out_features]))
            self.is_built = True
        return x @ self.w


class SequentialModule(tf.Module):
    def __init__(self):
        super().__init__()
        self.dense_1 = Dense(in_features=3, out_features=3)
        self.dense_2 = FlexibleDense(2)

    def __call__(self, x):
        x = self.dense_1(x)
        return self.dense_2(x)

    def regularise(self):
        return tf.add_n([tf.nn.l2_loss(v) for v in self.trainable_variables])


module = SequentialModule()
print(module(tf.constant([[2.0, 2.0, 2.0]])).numpy(), module.regularise().numpy())
print(len(module.variables), module.submodules, module.name_scope)
for variable in module.trainable_variables:
    variable.assign(tf.zeros_like(variable))
    print(variable.name, variable.shape, variable.numpy().sum())
v = tf.Variable(initial_value=[1.0, 2.0], trainable=False, dtype=tf.float32)
v.scatter_nd_update([[0]], [5.0])
print(v[0].numpy(), v.value().numpy(), v.get_shape(), tf.Variable(v).assign_sub([1.0, 1.0]).numpy())
