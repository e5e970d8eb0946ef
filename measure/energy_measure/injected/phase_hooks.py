"""Records what a program does beside the calls in its source, in its own interpreter (Python 3.8 to 3.13).

Imports, graphs that TensorFlow builds, calls of functions that the program compiled, steps of iterating over
datasets, callbacks, files of data that are read. Each becomes a row of the probe under a number of its own. Modules
of others get their wrappers once they are loaded; versions that differ are left alone.
"""

from __future__ import annotations

import functools
import importlib
import sys
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType, ModuleType
    from typing import Any

NOT_RECORDED = (-1, -1)
SHORTEST_IMPORT_NS = 1_000_000
BOOTSTRAP = "<frozen importlib._bootstrap>"
"""Python takes frames of this file out of tracebacks of imports."""
DATA_READERS = {
    "numpy.lib.npyio": ("load", "loadtxt", "genfromtxt", "fromregex"),
    "numpy.lib._npyio_impl": ("load", "loadtxt", "genfromtxt", "fromregex"),
    "pandas.io.parsers.readers": ("read_csv", "read_table", "read_fwf"),
    "pandas.io.parquet": ("read_parquet",),
    "pandas.io.excel._base": ("read_excel",),
    "pandas.io.json._json": ("read_json",),
    "PIL.Image": ("open",),
}
BUILDERS = {
    "jax._src.interpreters.partial_eval": "trace_to_jaxpr_dynamic",
    "jax._src.interpreters.mlir": "lower_jaxpr_to_module",
    "jax._src.compiler": "compile_or_get_cached",
    "torch._dynamo.convert_frame": "_compile",
}
"""What JAX and PyTorch trace, lower and compile a function with, by module."""
CALLBACK_LISTS = (
    "keras.src.callbacks.callback_list",
    "keras.src.callbacks",
    "keras.callbacks",
    "tf_keras.src.callbacks",
)


class PhaseHooks:
    """What wraps modules once they are loaded: `extensions` says which, and how."""

    def __init__(
        self, recorder: Any, wrapped: Callable[..., Any], own: Any, place: Callable[..., Any]
    ) -> None:
        """`wrapped`: makes a recording function of a plain one; `own`: the program's code; `place`: of a frame."""
        self.recorder = recorder
        self.wrapped = wrapped
        self.own = own
        self.place_of = place
        self.state = threading.local()
        self.seen: set[Any] = set()

    def extensions(self) -> dict[str, Callable[[ModuleType], None]]:
        """What to do with modules, by their name."""
        found: dict[str, Callable[[ModuleType], None]] = {
            "tensorflow.python.eager.polymorphic_function.polymorphic_function": self.compiled,
            "tensorflow.python.framework.func_graph": self.tracing,
            "tensorflow.python.data.ops.iterator_ops": self.iterators,
            "tensorflow.python.data.ops.dataset_ops": self.datasets,
            "tensorflow.python.distribute.input_lib": self.distributed,
            "torch.utils.data.dataloader": self.torch_loader,
            "jax._src.api": functools.partial(self.compiling, compiler="jit"),
            "torch": functools.partial(self.compiling, compiler="compile"),
            "torch._dynamo.eval_frame": self.torch_modules,
        }
        for name in CALLBACK_LISTS:
            found[name] = self.callbacks
        for name, builder in BUILDERS.items():
            found[name] = functools.partial(self.building, builder=builder)
        for name, readers in DATA_READERS.items():
            found[name] = functools.partial(self.readers, readers=readers)
        return found

    def number(self, kind: str, name: str) -> int:
        """The number of something that has no place in the program."""
        return int(self.recorder.place((kind, name), lambda: {"kind": kind, "name": name}))

    def site(self, kind: str, name: str, frame: Any, listed: bool = True) -> int:
        """The number of something at a place in the program; `listed`: it is shown as a call."""
        key = (kind, name, frame.f_code, frame.f_lasti, listed)
        return int(
            self.recorder.place(
                key, lambda: {"kind": kind, "name": name, "listed": listed, **self.place_of(frame)}
            )
        )

    # imports

    def imports(self) -> None:
        """Record imports by their top package, without those of the same package in it."""
        bootstrap: Any = importlib._bootstrap
        plain = bootstrap._find_and_load
        recorder, state, own = self.recorder, self.state, self.own
        clocks = recorder.clocks

        def find_and_load(name: str, import_: Any) -> Any:
            top = name.partition(".")[0]
            outer = getattr(state, "package", None)
            if outer == top:
                return plain(name, import_)
            state.package = top
            begin = clocks()
            module = None
            try:
                module = plain(name, import_)
                return module
            finally:
                state.package = outer
                end = clocks()
                if end[0] - begin[0] >= SHORTEST_IMPORT_NS and not own.holds(
                    str(getattr(module, "__file__", None) or "")
                ):
                    recorder.add(self.number("import", top), begin, end)

        find_and_load.__code__ = find_and_load.__code__.replace(co_filename=BOOTSTRAP)
        bootstrap._find_and_load = find_and_load

    # TensorFlow

    def compiled(self, module: ModuleType) -> None:
        """Calls of functions of the program that it compiled."""

        def choose(args: tuple[Any, ...], frame: FrameType) -> tuple[int, int]:
            function = self.own.function(getattr(args[0], "_python_function", None)) if eager() else None
            caller = None if function is None else self.own.caller(frame)
            if function is None or caller is None:
                return NOT_RECORDED
            return self.site("compiled", function.__qualname__.replace("<locals>.", ""), caller), -1

        self.wrap(getattr(module, "Function", None), "__call__", choose)

    def compiling(self, module: ModuleType, compiler: str) -> None:
        """The same for functions that it compiles with `jax.jit` or `torch.compile`; results are waited for."""
        plain: Any = getattr(module, compiler, None)
        if not callable(plain):
            return

        def compiled(*args: Any, **kwargs: Any) -> Any:
            made = plain(*args, **kwargs)
            if args or len(kwargs.keys() & {"fun", "model"}):
                return self.recording(made)
            return lambda function: self.recording(made(function))  # options alone make a decorator

        functools.update_wrapper(compiled, plain)
        setattr(module, compiler, compiled)

    def recording(self, made: Any) -> Any:
        """A compiled function that records its calls, where it is the program's own."""
        function = None if isinstance(made, type) or hasattr(made, "_orig_mod") else self.own.function(made)
        if function is None:
            return made
        name = function.__qualname__.replace("<locals>.", "")

        def choose(args: tuple[Any, ...], frame: FrameType) -> tuple[int, int]:
            caller = self.own.caller(frame)
            return NOT_RECORDED if caller is None else (self.site("compiled", name, caller), -1)

        recording = self.wrapped(made, choose, waits=True)
        # What others know a compiled function by: PyTorch, that it may look into it while it traces a function around.
        for attribute in dir(made):
            if not attribute.startswith("__"):
                setattr(recording, attribute, getattr(made, attribute))
        return recording

    def torch_modules(self, module: ModuleType) -> None:
        """The same for modules of the program that it compiles."""

        def choose(args: tuple[Any, ...], frame: FrameType) -> tuple[int, int]:
            function = self.own.function(type(args[0]._orig_mod).forward)
            caller = None if function is None else self.own.caller(frame)
            if function is None or caller is None:
                return NOT_RECORDED
            return self.site("compiled", function.__qualname__, caller), -1

        self.wrap(getattr(module, "OptimizedModule", None), "__call__", choose)

    def tracing(self, module: ModuleType) -> None:
        """Graphs that are built, whatever for."""

        def choose(args: tuple[Any, ...], frame: FrameType) -> tuple[int, int]:
            # Gradients of functions give the name by keyword.
            return self.number("tracing", str(args[0]) if args else "gradient"), -1

        self.wrap(module, "func_graph_from_py_func", choose)

    def building(self, module: ModuleType, builder: str) -> None:
        """The same with JAX and PyTorch: from a function of Python to a compiled one."""
        library = module.__name__.partition(".")[0]

        def choose(args: tuple[Any, ...], frame: FrameType) -> tuple[int, int]:
            return self.number("tracing", library), -1

        self.wrap(module, builder, choose)

    def iterators(self, module: ModuleType) -> None:
        """Steps of iterating over a dataset in the program's own code."""
        self.steps(getattr(module, "OwnedIterator", None), dataset_name)

    def distributed(self, module: ModuleType) -> None:
        """The same over datasets that a strategy has distributed."""
        self.steps(getattr(module, "DistributedIteratorBase", None), lambda iterator: "DistributedDataset")

    def torch_loader(self, module: ModuleType) -> None:
        """The same over PyTorch's loaders."""
        self.steps(getattr(module, "_BaseDataLoaderIter", None), lambda iterator: "DataLoader")

    def steps(self, kind: Any, name_of: Callable[[Any], str]) -> None:
        """Have the steps of a class of iterators recorded; the one that finds nothing more counts as none."""

        def choose(args: tuple[Any, ...], frame: FrameType) -> tuple[int, int]:
            caller = self.own.caller(frame) if eager() else None
            if caller is None:
                return NOT_RECORDED
            name = name_of(args[0])
            return self.site("iteration", name, caller), self.site("iteration", name, caller, listed=False)

        self.wrap(kind, "__next__", choose)

    def datasets(self, module: ModuleType) -> None:
        """Beginning to iterate over a dataset."""

        def choose(args: tuple[Any, ...], frame: FrameType) -> tuple[int, int]:
            caller = self.own.caller(frame) if eager() else None
            if caller is None:
                return NOT_RECORDED
            return self.site("iteration", class_name(args[0]), caller, listed=False), -1

        self.wrap(getattr(module, "DatasetV2", None), "__iter__", choose)

    # Keras

    def callbacks(self, module: ModuleType) -> None:
        """Methods of the callbacks that a list of them is made of, by class."""
        kind: Any = getattr(module, "CallbackList", None)
        if kind is None or kind in self.seen:
            return
        self.seen.add(kind)

        def choose(args: tuple[Any, ...], frame: FrameType) -> tuple[int, int]:
            for callback in (*getattr(args[0], "callbacks", ()), *args[1:]):
                if hasattr(callback, "on_epoch_end"):
                    self.watch_callback(type(callback))
            return NOT_RECORDED

        for name in ("set_model", "append"):
            if name in vars(kind):
                self.wrap(kind, name, choose)

    def watch_callback(self, kind: type) -> None:
        """Have the methods of a class of callbacks recorded, but for the base class, whose methods do nothing."""

        def choose(args: tuple[Any, ...], frame: FrameType) -> tuple[int, int]:
            return self.number("callback", type(args[0]).__name__), -1

        for part in kind.__mro__:
            if part in self.seen or part is object or part.__name__ in ("Callback", "CallbackList"):
                continue
            self.seen.add(part)
            for name, plain in list(vars(part).items()):
                if name.startswith(("on_", "set_model")) and callable(plain):
                    self.wrap(part, name, choose)

    # data

    def readers(self, module: ModuleType, readers: tuple[str, ...]) -> None:
        """Functions that read files of data, where the program calls them."""
        package = module.__name__.partition(".")[0]
        for name in readers:
            shown = f"{package}.{name}"

            def choose(args: tuple[Any, ...], frame: FrameType, shown: str = shown) -> tuple[int, int]:
                return NOT_RECORDED if self.own.caller(frame) is None else (self.number("data", shown), -1)

            self.wrap(module, name, choose)

    def wrap(self, holder: Any, name: str, choose: Callable[..., tuple[int, int]], **how: Any) -> None:
        """Put a recording function in place of one, where this version has it."""
        plain = getattr(holder, name, None)
        if callable(plain):
            setattr(holder, name, self.wrapped(plain, self.careful(choose), **how))

    @staticmethod
    def careful(choose: Callable[..., tuple[int, int]]) -> Callable[..., tuple[int, int]]:
        """The same, where nothing that we note is worth ending the program for."""

        def chosen(args: tuple[Any, ...], frame: FrameType) -> tuple[int, int]:
            try:
                return choose(args, frame)
            except Exception:
                return NOT_RECORDED

        return chosen


def eager() -> bool:
    """Whether operations are run rather than put into a graph."""
    asked = getattr(sys.modules.get("tensorflow.python.eager.context"), "executing_eagerly", None)
    return True if asked is None else bool(asked())


def dataset_name(iterator: Any) -> str:
    """The class of the dataset behind an iterator."""
    dataset = getattr(iterator, "_dataset", None)
    return "Dataset" if dataset is None else class_name(dataset)


def class_name(dataset: Any) -> str:
    """A dataset's class, as TensorFlow shows it but for the underscore."""
    return type(dataset).__name__.lstrip("_")
