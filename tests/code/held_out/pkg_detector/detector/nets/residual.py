from tensorflow.keras import Input, Model

from ..registry import registry
from .blocks import ConvBlock, ResidualBlock


@registry.add("residual")
def residual(cfg):
    x = inputs = Input((cfg.size, cfg.size, 3))
    x = ConvBlock(cfg.width)(x)
    for factor in (1, 2):
        x = ResidualBlock(cfg.width * factor)(x)
    return Model(inputs, x, name="residual")
