"""Neural collaborative filtering in PyTorch: the same shapes, data and optimizer."""

import torch
from torch import nn

import data

try:
    from energy_lsp import span
except ImportError:  # not installed in this environment, and nobody measures
    from contextlib import nullcontext as span

USERS, ITEMS, WIDTH = 2000, 1000, 32
asked = data.options(samples=32_768, epochs=3)
torch.manual_seed(0)
user, item, liked = map(torch.from_numpy, data.ratings(asked.samples, USERS, ITEMS))


class Recommender(nn.Module):
    def __init__(self):
        super().__init__()
        self.users, self.items = nn.Embedding(USERS, WIDTH), nn.Embedding(ITEMS, WIDTH)
        self.top = nn.Sequential(
            nn.Linear(2 * WIDTH, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 1), nn.Sigmoid()
        )

    def forward(self, user, item):
        return self.top(torch.cat([self.users(user), self.items(item)], dim=1))[:, 0]


model = Recommender()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
loss = nn.BCELoss()

with span("training"):
    for _ in range(asked.epochs):
        for batch in torch.randperm(asked.samples).split(asked.batch):
            optimizer.zero_grad()
            loss(model(user[batch], item[batch]), liked[batch]).backward()
            optimizer.step()
with span("inference"), torch.no_grad():
    batches = torch.arange(asked.samples).split(asked.batch)
    scores = torch.cat([model(user[batch], item[batch]) for batch in batches])
print(f"accuracy: {((scores > 0.5) == (liked > 0.5)).float().mean():.4f}")
