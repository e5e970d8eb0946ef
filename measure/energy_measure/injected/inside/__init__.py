"""What goes on inside `fit`, `predict` and compiled steps, noted from within the measured program.

The standard library and what TensorFlow ships are all that is used (Python 3.8 to 3.13). `start` says which modules
are to be extended once they are loaded; nothing is imported on their behalf. While graphs are built, every
operation's layer, line and forward operation are noted (`graphs.py`, `layers.py`); while they run, TensorFlow's
profiler looks at windows of steps (`windows.py`), in which marks say whose an operation is that is in no graph
(`eager.py`). Everything goes into `inside-PID.jsonl` of the run's folder, a JSON text a line (`journal.py`), and the
profiles beside it. They are read after the program's end, by another process (`reader.py`).
"""

from __future__ import annotations

from .eager import Eager
from .graphs import Graphs
from .journal import Journal
from .layers import Layers
from .windows import Windows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Callable, Dict


class Inside:
    """Everything that looks inside, in one process."""

    def __init__(self, folder: str, mode: str) -> None:
        """`mode`: `auto` looks at windows of steps, `all` at every one."""
        self.journal = Journal(folder)
        self.layers = Layers(self.journal)
        self.windows = Windows(self.journal, everything=mode == "all")
        self.graphs = Graphs(self.journal, self.layers, self.windows)
        self.eager = Eager(self.windows, self.layers, self.graphs)
        self.layers.eager = self.graphs.eager = self.eager

    def extensions(self) -> Dict[str, Callable[[ModuleType], None]]:
        """What to do with modules of others once they are loaded, by their names."""
        return {
            "keras.src.layers.layer": self.layers.extend_keras,
            "keras.engine.base_layer": self.layers.extend_keras_2,
            "keras.src.engine.base_layer": self.layers.extend_keras_2,
            "tf_keras.src.engine.base_layer": self.layers.extend_keras_2,
            "tensorflow.python.module.module": self.layers.extend_modules,
            "tensorflow.python.framework.func_graph": self.graphs.extend_graphs,
            "tensorflow.python.eager.backprop": self.graphs.extend_tapes,
            "tensorflow.python.ops.gradients_util": self.graphs.extend_gradients,
            "tensorflow.python.eager.polymorphic_function.atomic_function": self.graphs.extend_functions,
            "tensorflow.python.eager.polymorphic_function.monomorphic_function": self.graphs.extend_old_functions,
            "tensorflow.python.eager.context": self.windows.extend_context,
            "keras.optimizers.optimizer": self.eager.extend_optimizers,
            "keras.src.optimizers.base_optimizer": self.eager.extend_optimizers,
            "keras.src.optimizers.optimizer": self.eager.extend_optimizers,
            "tf_keras.src.optimizers.optimizer": self.eager.extend_optimizers,
            "tensorflow.python.profiler.profiler_v2": self.windows.extend_profiler,
        }

    def finish(self) -> None:
        """Close what is open and write what is not written yet."""
        self.windows.finish()
        self.journal.write()

    def after_fork(self) -> None:
        """A forked child runs without: the profiler's session is its parent's."""
        self.windows.abandon()
        self.journal.abandon()


def start(folder: str, mode: str) -> Inside:
    """Begin to look inside."""
    return Inside(folder, mode)
