"""A tiny detector."""
from . import nets as _nets  # noqa: F401  registers the networks
from .model import Detector, build_detector
from .registry import registry
from .train import Trainer

__all__ = ["Detector", "Trainer", "build_detector", "registry"]
