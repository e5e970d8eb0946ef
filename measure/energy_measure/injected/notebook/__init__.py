"""What IPython does in a notebook beyond Python: cell magics and shell lines (Python 3.8 to 3.13)."""

from .cell_magics import run_cell_magic as run_cell_magic
from .shell_lines import run_assigned as run_assigned
