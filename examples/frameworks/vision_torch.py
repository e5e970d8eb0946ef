"""A small residual network, in PyTorch: the same shapes, data and optimizer."""

import torch
from torch import nn

import data

try:
    from energy_lsp import span
except ImportError:  # not installed in this environment, and nobody measures
    from contextlib import nullcontext as span

SIDE, CLASSES = 32, 4
asked = data.options(samples=1024, epochs=2)
torch.manual_seed(0)
image, label = map(torch.from_numpy, data.pictures(asked.samples, SIDE, CLASSES))
image = image.permute(0, 3, 1, 2).contiguous()


class Block(nn.Module):
    """Two convolutions beside a shortcut; half the side."""

    def __init__(self, before, filters):
        super().__init__()
        self.shortcut = nn.Conv2d(before, filters, 1, stride=2, bias=False)
        self.body = nn.Sequential(
            nn.Conv2d(before, filters, 3, stride=2, padding=1, bias=False),
            nn.BatchNorm2d(filters, eps=1e-3, momentum=0.01),
            nn.ReLU(),
            nn.Conv2d(filters, filters, 3, padding=1, bias=False),
            nn.BatchNorm2d(filters, eps=1e-3, momentum=0.01),
        )

    def forward(self, x):
        return torch.relu(self.body(x) + self.shortcut(x))


model = nn.Sequential(
    nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), Block(16, 32), Block(32, 64),
    nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, CLASSES),
)  # fmt: skip
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
loss = nn.CrossEntropyLoss()

with span("training"):
    for _ in range(asked.epochs):
        for batch in torch.randperm(asked.samples).split(asked.batch):
            optimizer.zero_grad()
            loss(model(image[batch]), label[batch]).backward()
            optimizer.step()
model.eval()
with span("inference"), torch.no_grad():
    scores = torch.cat([model(part) for part in image.split(asked.batch)])
print(f"accuracy: {(scores.argmax(dim=1) == label).float().mean():.4f}")
