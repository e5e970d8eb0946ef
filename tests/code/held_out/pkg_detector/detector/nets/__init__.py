from . import plain, residual  # noqa: F401
from .blocks import ConvBlock

__all__ = ["ConvBlock"]
