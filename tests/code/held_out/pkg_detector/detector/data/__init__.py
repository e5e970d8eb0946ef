from .loader import make_loader
from .synth import SyntheticBoxes

__all__ = ("SyntheticBoxes", "make_loader")
