from nets import *
from nets import L, make_mlp as mlp
from tools import ops
import tools.ops as more_ops

model = mlp([4, 2])
x = random_input(3, 5)
print(model(x).shape, L.Dense(1)(x).numpy())
print(ops.l2(x).numpy(), more_ops.tf.reduce_sum(x).numpy())
encoder = Encoder()
print(encoder(x).shape, encoder.encode(x).numpy().shape)
optimizer = get_optimizer("sgd")
optimizer.build(model.trainable_variables)
print(optimizer.learning_rate.numpy(), settings.SHAPE)
loss = LOSSES["mse"](x, x)
print(loss.numpy())
