"""Re-exports what the program needs."""
from . import config
from .models import build_model
