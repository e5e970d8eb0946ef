from .core import Engine
from .build import create_engine
__all__ = ["Engine", "create_engine"]
