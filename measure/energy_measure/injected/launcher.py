"""Runs a program with its instrumented sources, in the project's own interpreter (Python 3.8 to 3.13).

Started as `PYTHON launcher.py SPECIFICATION`, with the standard library alone. The specification is JSON: the
entry point, its arguments, the number of call sites, and for each file of the project that calls an API its
instrumented text. Nothing is written into the project: sources go from memory into the interpreter, through
an import hook for modules.

The compiled code carries the places of the *original* text, column by column, so that tracebacks (which show
the file as it is on disk), `inspect.getsource` and AutoGraph see the program as it was written.
"""

from __future__ import annotations

import sys

if __name__ == "__main__" and sys.path and __file__.startswith(sys.path[0]):
    # This folder holds modules with names of the standard library.
    del sys.path[0]

import ast
import atexit
import builtins
import functools
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import json
import linecache
import os
import threading
import types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


PROBE = "__energy_probe__"
AUTOGRAPH_PARSER = "tensorflow.python.autograph.pyct.parser"
SPAWNING = "multiprocessing.spawn"
CHILD = "__energy_child__"
"""The name this file runs under in a process that `multiprocessing` has started afresh."""
loaded: dict[str, Any] = {}
loops: list[Any] = []
"""The event loop of a notebook, once a cell has awaited something."""


class NotTheSameProgram(Exception):  # noqa: N818
    """Instrumented text that is not the original plus probes; the original runs instead."""


def restore_places(plain: Any, probed: Any) -> None:
    """Give each node of `probed` its place in `plain`, making sure that they differ in probes alone."""
    if isinstance(plain, list) and isinstance(probed, list):
        if len(plain) != len(probed):
            raise NotTheSameProgram
        for one, other in zip(plain, probed):  # noqa: B905 (no `strict` before 3.10)
            restore_places(one, other)
    elif not isinstance(plain, ast.AST):
        if type(plain) is not type(probed) or (plain != probed and plain == plain):
            raise NotTheSameProgram
    elif type(plain) is not type(probed):
        raise NotTheSameProgram
    elif isinstance(plain, ast.Call) and isinstance(probed, ast.Call) and is_probe(probed):
        ast.copy_location(probed.func, plain.func)
        ast.copy_location(probed.args[0], plain.func)
        ast.copy_location(probed, plain)
        restore_places(plain.func, probed.args[1])
        restore_places(plain.args, probed.args[2:])
        restore_places(plain.keywords, probed.keywords)
    else:
        ast.copy_location(probed, plain)
        for field in plain._fields:
            restore_places(getattr(plain, field, None), getattr(probed, field, None))


def is_probe(node: Any) -> bool:
    """Whether a node is a call of the probe."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == PROBE
        and len(node.args) >= 2
    )


def instrumented_tree(source: str | bytes, instrumented: str, filename: str) -> ast.Module:
    """The instrumented program with the places of the original; the original where they do not match."""
    plain = ast.parse(source, filename)
    try:
        probed = ast.parse(instrumented, filename)
        restore_places(plain, probed)
    except (NotTheSameProgram, SyntaxError, RecursionError):
        return plain
    return probed


class Loader(importlib.machinery.SourceFileLoader):
    """Loads a module of the project from its instrumented text; everything else about it stays as it is."""

    def __init__(self, name: str, path: str, instrumented: str) -> None:
        super().__init__(name, path)
        self.instrumented = instrumented

    def get_code(self, fullname: str) -> types.CodeType:
        """Compile without the cache: cached bytecode is that of the plain module."""
        path = self.get_filename(fullname)
        tree = instrumented_tree(self.get_data(path), self.instrumented, path)
        return compile(tree, path, "exec", dont_inherit=True)


class Finder(importlib.abc.MetaPathFinder):
    """Asks the other finders, and takes over modules whose file is to be instrumented.

    `others`: what to do with modules of others once they are loaded, by their name.
    """

    def __init__(self, sources: dict[str, str], others: dict[str, Any]) -> None:
        self.sources = sources
        self.others = others

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The module's ordinary specification, with a loader of ours if it is one of the project's."""
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(fullname, path, target)
            if spec is None:
                continue
            if type(spec.loader) is importlib.machinery.SourceFileLoader and spec.origin:
                instrumented = self.sources.get(os.path.realpath(spec.origin))
                if instrumented is not None:
                    spec.loader = Loader(fullname, spec.origin, instrumented)
                elif fullname in self.others:
                    spec.loader = beside("graph_probes").after_loading(spec.loader, self.others[fullname])
            return spec
        return None


def fresh_main(path: str | None, package: str = "") -> types.ModuleType:
    """A `__main__` module such as the interpreter makes for a script (or, without a path, a notebook).

    `package`: it is a module of this package, as `python -m package.module` runs it.
    """
    module = types.ModuleType("__main__")
    names = module.__dict__
    names.update(__builtins__=builtins, __spec__=None, __package__=None, __annotations__={})
    if path is not None:
        loader = importlib.machinery.SourceFileLoader("__main__", path)
        names.update(__file__=path, __cached__=None, __loader__=loader)
        if package:
            name = f"{package}.{os.path.splitext(os.path.basename(path))[0]}"
            spec = importlib.machinery.ModuleSpec(name, loader, origin=path)
            names.update(__package__=package, __spec__=spec)
    sys.modules["__main__"] = module
    return module


def package_of(path: str) -> str:
    """The package of a script that imports from it by dots, which it can do as `python -m` alone; else nothing."""
    try:
        with open(path, "rb") as file:
            tree = ast.parse(file.read(), path)
    except (OSError, SyntaxError, ValueError, RecursionError):
        return ""  # running it says what is wrong
    if not any(isinstance(one, ast.ImportFrom) and one.level for one in ast.walk(tree)):
        return ""
    names: list[str] = []
    folder = os.path.dirname(os.path.abspath(path))
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        folder, name = os.path.split(folder)
        names.insert(0, name)
    return ".".join(names)


def run_script(path: str, instrumented: str | None, package: str = "") -> None:
    """Run a script as `python path` would, or one of a package as `python -m` would."""
    module = fresh_main(path, package)
    exec(script_code(path, instrumented), module.__dict__)


def script_code(path: str, instrumented: str | None) -> types.CodeType:
    """A script compiled with its probes, if it has any."""
    with open(path, "rb") as file:
        source = file.read()
    tree = ast.parse(source, path) if instrumented is None else instrumented_tree(source, instrumented, path)
    return compile(tree, path, "exec", dont_inherit=True)


def run_cells(cells: list[dict[str, str]]) -> None:
    """Run the cells of a notebook one after the other in one namespace, showing the value a cell ends in."""
    module = fresh_main(None)
    module.__dict__["display"] = lambda *values: print(*[repr(value) for value in values], sep="\n")
    for cell in cells:
        name, source = cell["name"], cell["source"]
        # As IPython does: what looks into the source of a function finds that of its cell.
        linecache.cache[name] = (len(source), None, (source + "\n").splitlines(True), name)
        if "magic" in cell:
            package("notebook").run_cell_magic(json.loads(cell["magic"]), module.__dict__)
            continue
        tree = instrumented_tree(source, cell["instrumented"], name)
        if "shell" in cell:
            package("notebook").run_assigned(tree, json.loads(cell["shell"]), module.__dict__)
        shown = None
        if ends_in_value(tree, source):
            shown = ast.Expression(tree.body.pop().value)  # type: ignore[attr-defined]
        run_code(compile_cell(tree, name, "exec"), module.__dict__)
        if shown is not None:
            value = run_code(compile_cell(shown, name, "eval"), module.__dict__)
            if value is not None:
                print(repr(value))


def ends_in_value(tree: ast.Module, source: str) -> bool:
    """Whether a notebook would show the value of the last line: not after a semicolon, nor of a magic."""
    if not tree.body or not isinstance(tree.body[-1], ast.Expr) or source.rstrip().endswith(";"):
        return False
    last = source.split("\n")[tree.body[-1].lineno - 1]
    return not last.lstrip().startswith("0#")  # what the reader puts in place of a magic


def compile_cell(tree: Any, name: str, mode: str) -> types.CodeType:
    """Compile a part of a cell, which may await at its top level."""
    code = compile(tree, name, mode, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    assert isinstance(code, types.CodeType)
    return code


def run_code(code: types.CodeType, names: dict[str, Any]) -> Any:
    """Evaluate a part of a cell, to its end if it awaits something; all cells share one event loop."""
    value = eval(code, names)
    if code.co_flags & inspect.CO_COROUTINE:
        import asyncio

        if not loops:
            loops.append(asyncio.new_event_loop())
            asyncio.set_event_loop(loops[0])
        return loops[0].run_until_complete(value)
    return value


def watch_imports(specification: dict[str, Any], path: str, recorder: Any, inside: Any = None) -> Any:
    """Have the project's modules instrumented when they are imported; gives what passes that on to children."""
    graphs = beside("graph_probes").GraphProbes(specification["graph_calls"])
    children = beside("children").Children(os.path.abspath(__file__), CHILD, os.path.abspath(path), recorder)
    hooks = phase_hooks(specification, recorder)
    others = {
        AUTOGRAPH_PARSER: graphs.extend,
        SPAWNING: children.extend_spawning,
        "multiprocessing.pool": children.extend_pools,
        **hooks.extensions(),
    }
    others["torch"] = in_turn(others["torch"], beside("torch_calls").TorchCalls(hooks).extend)
    shrink = beside("shrink").from_environment(os.environ.get("ENERGY_LSP_SHRINK", ""))
    for extending in (shrink, inside):  # data is cut before anybody looks at the call
        for name, act in extending.extensions().items() if extending is not None else ():
            others[name] = in_turn(others[name], act) if name in others else act
    sys.meta_path.insert(0, Finder(specification["sources"], others))
    return children


def in_turn(first: Any, second: Any) -> Any:
    """Two things to do with a module, one after the other."""

    def both(module: types.ModuleType) -> None:
        first(module)
        second(module)

    return both


def look_inside(specification: dict[str, Any], recorder: Any) -> Any:
    """Begin to look inside of calls, where that is asked for; what is left to write is written with the records."""
    mode = specification.get("inside", "off")
    if mode == "off":
        return None
    inside = package("inside").start(specification["folder"], mode)
    finish = recorder.finish

    def finish_both() -> None:
        finish()
        inside.finish()

    recorder.finish = finish_both
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=inside.after_fork)
    return inside


def phase_hooks(specification: dict[str, Any], recorder: Any) -> Any:
    """What records imports, graphs, iterations and callbacks; imports from now on."""
    probe, own_code = package("probe"), beside("own_code")
    cells = [cell["name"] for cell in specification.get("cells", ())]
    folder = specification.get("project") or os.getcwd()
    own = own_code.OwnCode(folder, specification["sources"], cells, probe.HIDDEN_FILE)
    wrapped = functools.partial(probe.wrapped, recorder)
    hooks = beside("phase_hooks").PhaseHooks(recorder, wrapped, own, own_code.place)
    hooks.imports()
    recorder.exit_handlers = beside("exit_handlers").ExitHandlers(own)
    recorder.exit_handlers.watch()
    return hooks


def installed(probe: Any, specification: dict[str, Any]) -> Any:
    """The recorder of this process."""
    return probe.install(*(specification[name] for name in ("folder", "sites", "pure", "gpu", "marking")))


def join_program(path: str) -> None:
    """Record this process as well, a child that `multiprocessing` has started afresh."""
    with open(path, encoding="utf-8") as file:
        specification = json.load(file)
    probe = package("probe")
    recorder = installed(probe, specification)
    atexit.register(recorder.finish)
    spawn = sys.modules[SPAWNING]
    watch_imports(specification, path, recorder).extend_spawning(spawn)
    sources = specification["sources"]

    def code_of(main: str) -> types.CodeType | None:
        instrumented = sources.get(os.path.realpath(main))
        return None if instrumented is None else script_code(main, instrumented)

    spawn.runpy = beside("children").MainModule(code_of)  # type: ignore[attr-defined]


def run(specification: dict[str, Any], file: str, recorder: Any) -> int | str | None:
    """Run the program to its end, and give the status it would leave with."""
    path = specification["entry"]
    sys.argv = [path, *specification["arguments"]]
    name = "" if "cells" in specification else package_of(path)
    folder = os.path.dirname(os.path.abspath(path))
    for _ in name.split(".") if name else ():
        folder = os.path.dirname(folder)
    sys.path.insert(0, folder)
    beside("phase_marks").provide_span()
    sources = specification["sources"]
    watch_imports(specification, file, recorder, look_inside(specification, recorder))
    try:
        if "cells" in specification:
            run_cells(specification["cells"])
        else:
            shown = os.path.abspath(path) if sys.version_info >= (3, 9) else path
            run_script(shown, sources.get(os.path.realpath(path)), name)
    except SystemExit as stop:
        if isinstance(stop.code, str):
            recorder.error = one_line(stop.code)
        elif stop.code:
            recorder.error = one_line(f"exited with status {stop.code}")
        return stop.code
    except BaseException as error:
        show(error)
        recorder.error = one_line(f"{type(error).__name__}: {error}").rstrip(": ")
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    return 0


def one_line(text: str) -> str:
    """The beginning of the first line of a text."""
    return (text.strip().splitlines() or [""])[0][:300]


def show(error: BaseException) -> None:
    """Print a traceback that begins in the program, as if nothing had started it."""
    tb = error.__traceback__
    while tb is not None and tb.tb_frame.f_code.co_filename in (__file__, ast.__file__):
        tb = tb.tb_next
    error.__traceback__ = tb
    sys.excepthook(type(error), error, tb)


def join_threads() -> None:
    """The program ends when its last thread and its last child do: those the interpreter waits for."""
    asked: list[Any] = getattr(threading, "_threading_atexits", [])
    while (
        asked
    ):  # as the interpreter does first: threads of an executor that nobody has shut down wait for this
        asked.pop()()
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    if "multiprocessing" in sys.modules:
        for child in sys.modules["multiprocessing"].active_children():
            if not child.daemon:
                child.join()


class ParentPipe:
    """The engine at the other end of two pipes, one JSON text a line; silent when nobody is there."""

    def __init__(self, descriptors: Sequence[int]) -> None:
        for descriptor in descriptors:
            os.set_inheritable(descriptor, False)
        self.opened = [(descriptor, os.fstat(descriptor)) for descriptor in descriptors]
        self.requests = os.fdopen(descriptors[0], "r")
        self.answers = os.fdopen(descriptors[1], "w")

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """Say something and wait for what to do next."""
        try:
            if not all(os.path.samestat(os.fstat(number), opened) for number, opened in self.opened):
                return {}  # the program closed them, and has other files of these numbers
            self.answers.write(json.dumps(message) + "\n")
            self.answers.flush()
            answer = json.loads(self.requests.readline() or "{}")
        except (OSError, ValueError):
            return {}  # the engine is gone
        return answer if isinstance(answer, dict) else {}


def beside(name: str) -> Any:
    """A module from the file beside this one, under a name that no program uses."""
    full = f"__energy_{name}__"
    if full not in loaded:
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".py")
        spec = importlib.util.spec_from_file_location(full, path)
        assert spec is not None
        assert spec.loader is not None
        loaded[full] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(loaded[full])
    return loaded[full]


def package(name: str) -> Any:
    """A folder of modules beside this one, under a name that no program uses."""
    full = f"__energy_{name}__"
    if full not in loaded:
        folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
        spec = importlib.util.spec_from_file_location(
            full, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
        )
        assert spec is not None
        assert spec.loader is not None
        loaded[full] = sys.modules[full] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(loaded[full])
        for known in [known for known in sys.modules if known.partition(".")[0] == full]:
            del sys.modules[known]  # a program that looks at all modules finds its own
    return loaded[full]


def main() -> None:
    """Run what the specification says; leave with the status of the program."""
    path = sys.argv[1]
    with open(path, encoding="utf-8") as file:
        specification = json.load(file)
    probe = package("probe")
    recorder = installed(probe, specification)
    process = os.getpid()
    engine = ParentPipe(specification["control"]) if specification.get("control") else None
    if engine is not None:
        engine.ask({"ready": process})
    recorder.begin = probe.clock()
    recorder.checkpoint()
    status = run(specification, path, recorder)
    if os.getpid() == process:
        ending = recorder.clocks()
        join_threads()
        recorder.exit_handlers.run()
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        recorder.add(
            recorder.place("exit", lambda: {"kind": "exit", "name": "threads, handlers and output"}),
            ending,
            recorder.clocks(),
        )
        recorder.checkpoint()
        recorder.finish()
        if engine is not None:
            number = status if isinstance(status, int) else 0 if status is None else 1
            message: dict[str, Any] = {"begin": recorder.begin, "end": recorder.end, "status": number}
            while "replay" in (request := engine.ask(message)):
                message = {"windows": beside("replayer").replay(recorder, request["replay"])}
    sys.exit(status)


if __name__ == "__main__":
    main()
elif __name__ == CHILD:
    try:
        join_program(SPECIFICATION)  # type: ignore[name-defined]  # noqa: F821 (given by who starts it)
    except Exception as problem:
        print(f"energy-lsp: a child process runs without probes ({problem!r})", file=sys.stderr)
