"""A training step that PyTorch compiles, which calls a compiled function itself, and a compiled module."""

import keras
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(64, 8)

    def forward(self, x):
        return torch.relu(self.inner(x))


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)


@torch.compile(backend="eager", fullgraph=True)
def scaled(x):
    return x * 2


@torch.compile(backend="eager", fullgraph=True)
def step(x, y):
    return torch.nn.functional.mse_loss(net(scaled(x)), y)


x, y = torch.rand(32, 64), torch.rand(32, 8)
for _ in range(30):
    loss = step(x, y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()

fast = torch.compile(net, backend="eager")
for _ in range(12):
    fast(x)
print(float(keras.ops.sum(keras.ops.ones((3, 3)))))
