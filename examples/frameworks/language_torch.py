"""A small transformer that classifies sentences, in PyTorch: the same shapes, data and optimizer."""

import torch
from torch import nn

import data

try:
    from energy_lsp import span
except ImportError:  # not installed in this environment, and nobody measures
    from contextlib import nullcontext as span

WORDS, LENGTH, WIDTH, HEADS = 500, 32, 64, 4
asked = data.options(samples=4096, epochs=2)
torch.manual_seed(0)
text, label = map(torch.from_numpy, data.sentences(asked.samples, LENGTH, WORDS))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
        self.dense = nn.Sequential(nn.Linear(WIDTH, 128), nn.ReLU(), nn.Linear(128, WIDTH))
        self.first, self.second = nn.LayerNorm(WIDTH, eps=1e-3), nn.LayerNorm(WIDTH, eps=1e-3)

    def forward(self, x):
        x = self.first(x + self.attention(x, x, x, need_weights=False)[0])
        return self.second(x + self.dense(x))


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.Sequential(Block(), Block())
        self.top = nn.Sequential(nn.Linear(WIDTH, 1), nn.Sigmoid())

    def forward(self, text):
        x = self.blocks(self.words(text) + self.places(torch.arange(LENGTH)))
        return self.top(x.mean(dim=1))[:, 0]


model = Classifier()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
loss = nn.BCELoss()

with span("training"):
    for _ in range(asked.epochs):
        for batch in torch.randperm(asked.samples).split(asked.batch):
            optimizer.zero_grad()
            loss(model(text[batch]), label[batch]).backward()
            optimizer.step()
with span("inference"), torch.no_grad():
    scores = torch.cat([model(part) for part in text.split(asked.batch)])
print(f"accuracy: {((scores > 0.5) == (label > 0.5)).float().mean():.4f}")
