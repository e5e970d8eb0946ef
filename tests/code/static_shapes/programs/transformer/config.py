from dataclasses import dataclass
@dataclass
class Config:
    vocab: int = 100
    maxlen: int = 20
    dim: int = 16
    batch: int = 8
    heads: int = 2
CFG = Config()
