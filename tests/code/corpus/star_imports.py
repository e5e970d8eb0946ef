from tensorflow import *
from tensorflow.keras.layers import *
from tensorflow.keras.models import *
from tensorflow.keras import optimizers

x = constant([[1.0, 2.0]])
y = matmul(x, transpose(x))
print(y.numpy(), reduce_sum(x).numpy(), shape(x))
model = Sequential([Dense(3, activation="relu"), Dense(1)])
model.compile(optimizer=optimizers.SGD(0.01), loss="mse")
model.train_on_batch(x, y)
print(nn.softmax(x), math.log(x), keras.backend.floatx())
inp = Input((2,))
out = Dense(1)(Concatenate()([inp, inp]))
functional = Model(inp, out)
print(functional(x))
v = Variable(3.0)
v.assign(cast(reduce_max(x), float32))
print(v.numpy(), zeros([2]), concat([x, x], 0))
