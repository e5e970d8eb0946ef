import dataclasses
from typing import Any, Dict


@dataclasses.dataclass
class Settings:
    noise: int = 2
    steps: int = 3
    width: int = 8
    generator: str = "mlp"
    objective: str = "bce"
    lr: float = 1e-3

    @classmethod
    def load(cls, values: Dict[str, Any]) -> "Settings":
        known = {field.name for field in dataclasses.fields(cls)}
        return cls(**{name: value for name, value in values.items() if name in known})
