"""A training loop by hand on PyTorch, with a Keras call in a function that PyTorch must compile as a whole."""

import keras
import torch

net = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 8))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)


@torch.compile(backend="eager", fullgraph=True)
def shifted(y):
    return keras.ops.add(y, 1.0)


x, y = torch.rand(256, 256), shifted(torch.rand(256, 8))
for _ in range(40):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(net(x), y)
    loss.backward()
    optimizer.step()
print("graphs broken:", sum(torch._dynamo.utils.counters["graph_break"].values()))
