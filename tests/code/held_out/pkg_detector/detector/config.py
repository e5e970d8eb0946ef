import ast
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Config:
    backbone: str = "plain"
    size: int = 16
    classes: int = 2
    width: int = 4
    batch: int = 2
    epochs: int = 2
    lr: float = 1e-3
    seed: int = 5
    loss: str = "smooth"


CONFIGS = {"tiny": Config(), "res": Config(backbone="residual", width=8)}


def override(config, pairs):
    return replace(config, **{k: ast.literal_eval(v) for k, _, v in (pair.partition("=") for pair in pairs)})
