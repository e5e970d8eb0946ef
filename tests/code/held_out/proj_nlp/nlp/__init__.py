from .encoders import make_encoder
from .pipeline import to_dataset
from .tokenizer import Tokenizer
__all__ = ['Tokenizer', 'make_encoder', 'to_dataset']
