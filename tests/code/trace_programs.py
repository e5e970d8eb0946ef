"""Runs programs under real TensorFlow and records which API each call expression really reached.

    python trace_programs.py OUTPUT.json PROGRAM...

A program is a file, a notebook, or a folder with a main.py. Every call `f(a)` is rewritten to
`__reached__(7, f)(a)` in a copy of the program, which then runs as it is; so the callable itself is seen,
whichever name led to it. The answer: for each file the executed call expressions as
[start byte, end byte, [APIs reached]]; an empty list where the call reached Python, another library or the
program's own code, and "?" for TensorFlow's private callables.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib
import io
import json
import os
import runpy
import sys
import tempfile
import time
import traceback
import types
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("KERAS_BACKEND", "tensorflow")

from energy_data.catalogue.catalogue import Catalogue

PRIVATE = "?"
LIBRARIES = ("tensorflow", "keras")


class Site:
    """One call expression of a program and what it reached."""

    def __init__(self, file: str, start: int, end: int) -> None:
        self.file, self.start, self.end = file, start, end
        self.executed = False
        self.reached: set[str] = set()


class Rewriter(ast.NodeTransformer):
    """Sends each callee through `__reached__`, and remembers where the call stood."""

    def __init__(self, file: str, source: str, sites: list[Site]) -> None:
        self.file, self.sites = file, sites
        self.line_starts = [0]
        for line in source.encode().splitlines(keepends=True):
            self.line_starts.append(self.line_starts[-1] + len(line))

    def _site(self, node: ast.expr) -> ast.Constant:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = self.line_starts[node.lineno - 1] + node.col_offset
        end = self.line_starts[node.end_lineno - 1] + node.end_col_offset
        self.sites.append(Site(self.file, start, end))
        return ast.Constant(len(self.sites) - 1)

    def _through(self, place: ast.Constant, callee: ast.expr) -> ast.Call:
        return ast.Call(ast.Name("__reached__", ast.Load()), [place, callee], [])

    def visit_Call(self, node: ast.Call) -> ast.expr:
        place = self._site(node)
        self.generic_visit(node)
        return ast.copy_location(ast.Call(self._through(place, node.func), node.args, node.keywords), node)

    def _decorated(self, node: Any) -> Any:
        bare = [not isinstance(decorator, ast.Call) for decorator in node.decorator_list]
        places = [
            self._site(item) if plain else None for item, plain in zip(node.decorator_list, bare, strict=True)
        ]
        self.generic_visit(node)
        node.decorator_list = [
            decorator if place is None else self._through(place, decorator)
            for decorator, place in zip(node.decorator_list, places, strict=True)
        ]
        return node

    visit_FunctionDef = _decorated
    visit_ClassDef = _decorated
    visit_AsyncFunctionDef = _decorated


class Judge:
    """Names callables by the catalogue: by identity, or by the nearest public class of the receiver."""

    def __init__(self) -> None:
        self.catalogue = Catalogue.load()
        self.names: dict[int, str] = {}
        self.kept: list[object] = []
        self.model = fetch("keras.Model")
        for name in self.catalogue.names():
            entry = self.catalogue.find(name)
            if entry and entry.kind in ("function", "class") and not entry.removed_in:
                value = fetch(name)
                if is_library(value) or not name.startswith("tensorflow.experimental.numpy."):
                    self._know(name, value)  # numpy.int32 is no API though TensorFlow shows it
        for name in self.catalogue.names():  # static methods and methods taken from their class
            entry = self.catalogue.find(name)
            if entry and entry.kind == "method" and not entry.removed_in:
                value = fetch(name)
                if isinstance(value, types.FunctionType | types.BuiltinFunctionType):
                    self._know(name, value)

    def _know(self, name: str, value: object) -> None:
        if value is not None and id(value) not in self.names:
            self.names[id(value)] = name
            self.kept.append(value)

    def name(self, reached: Any) -> str | None:
        """Canonical name, None for what is not TensorFlow's or Keras's, "?" for their private callables."""
        if isinstance(reached, functools.partial):
            return self.name(reached.func)
        if isinstance(reached, type):
            return self._of_class(reached)
        if isinstance(reached, types.MethodType | types.BuiltinMethodType | types.MethodWrapperType):
            receiver = getattr(reached, "__self__", None)
            if receiver is not None and not isinstance(receiver, types.ModuleType):
                return self._of_method(reached, receiver)
        if id(reached) in self.names:
            return self.names[id(reached)]
        if isinstance(reached, types.FunctionType | types.BuiltinFunctionType):
            return PRIVATE if is_library(reached) else None
        return self._of_instance(reached)

    def _of_class(self, reached: type) -> str | None:
        if id(reached) in self.names:
            return self.names[id(reached)]
        if not is_library(reached):
            return None
        return self._nearest(reached, None) or PRIVATE

    def _of_method(self, reached: Any, receiver: Any) -> str | None:
        if isinstance(receiver, super | types.FunctionType):
            return None
        cls = receiver if isinstance(receiver, type) else type(receiver)
        name = attribute_name(cls, reached)
        home = next((ancestor for ancestor in cls.__mro__ if name in vars(ancestor)), None)
        function = getattr(reached, "__func__", None)
        if function is not None and not is_library(unwrapped(function)):
            return None
        if function is None and home is not None and not is_library(home):
            return None
        public = self._nearest(cls, name)
        if public:
            return f"{public}.{name}"
        return PRIVATE if is_library(cls) else None

    def _of_instance(self, reached: Any) -> str | None:
        if not callable(reached) or not is_library(unwrapped(type(reached).__call__)):
            return None
        if "PolymorphicFunction" in {ancestor.__name__ for ancestor in type(reached).__mro__}:
            return None  # the program's own function, compiled
        public = self._nearest(type(reached), "__call__")
        return f"{public}.__call__" if public else PRIVATE

    def _nearest(self, cls: type, member: str | None) -> str | None:
        for ancestor in cls.__mro__:
            name = self.names.get(id(ancestor))
            if name == "keras.Function" and self.model in cls.__mro__:
                continue  # a functional model is a model first
            if name and (member is None or self.catalogue.member(name, member)):
                return name
        return None


def neutral(line: str) -> str:
    """A magic or shell line as a statement of the same length in bytes, so that positions hold."""
    text = line.lstrip()
    if text[:1] not in ("%", "!"):
        return line
    length = len(text.encode())
    return line[: len(line) - len(text)] + ("pass" if length >= 4 else "0").ljust(length)


def fetch(dotted: str) -> object | None:
    """The object of a canonical name; names that only TensorFlow's Keras has are looked up there."""
    for name in (dotted, f"tensorflow.{dotted}"):
        parts = name.split(".")
        for cut in (1, len(parts) - 1, len(parts) - 2):
            try:
                value: Any = importlib.import_module(".".join(parts[: max(cut, 1)]))
                for part in parts[max(cut, 1) :]:
                    value = getattr(value, part)
            except (ImportError, AttributeError):
                continue
            return value
    return None


def attribute_name(cls: type, method: Any) -> str:
    """The name a method goes by in its class: a wrapper may carry another one."""
    name: str = method.__name__
    function = getattr(method, "__func__", None)
    if function is None or hasattr(cls, name):
        return name
    members = ((key, value) for ancestor in cls.__mro__ for key, value in vars(ancestor).items())
    return next((key for key, value in members if getattr(value, "__func__", value) is function), name)


def unwrapped(function: Any) -> Any:
    """The innermost function: Keras wraps `call` and others of the user's own classes."""
    seen = 0
    while hasattr(function, "__wrapped__") and seen < 10:
        function, seen = function.__wrapped__, seen + 1
    return function


def is_library(value: Any) -> bool:
    """True for what TensorFlow or Keras defines."""
    module = getattr(value, "__module__", None) or ""
    return module.partition(".")[0] in (*LIBRARIES, "google")


class Tracer:
    """Runs rewritten programs and fills their sites."""

    def __init__(self) -> None:
        import keras
        import tensorflow as tf

        self.keras = keras
        self.judge = Judge()
        self.sites: list[Site] = []
        self.verdicts: dict[tuple[int, int], str | None] = {}

        @tf.autograph.experimental.do_not_convert
        def reached(place: int, value: Any) -> Any:
            site = self.sites[place]
            site.executed = True
            if len(site.reached) < 8:
                verdict = self.judge.name(value)
                if verdict is not None:
                    site.reached.add(verdict)
            return value

        import builtins

        builtins.__reached__ = reached  # type: ignore[attr-defined]

    def run(self, program: Path, folder: Path) -> str | None:
        """Runs one program in a copy below `folder`; the traceback where it failed."""
        home = folder / program.stem
        home.mkdir(parents=True)
        files = sorted(program.rglob("*")) if program.is_dir() else [program]
        for file in (file for file in files if file.is_file() and "__pycache__" not in file.parts):
            relative = file.relative_to(program) if program.is_dir() else Path(file.name)
            target = home / relative
            target.parent.mkdir(parents=True, exist_ok=True)
            if file.suffix == ".py":
                target.write_text(
                    self._rewritten(str(file), file.read_text(encoding="utf-8")), encoding="utf-8"
                )
            elif file.suffix == ".ipynb":
                target.with_suffix(".py").write_text(self._notebook(file), encoding="utf-8")
            else:
                target.write_bytes(file.read_bytes())
        main = home / ("main.py" if program.is_dir() else f"{program.stem}.py")
        return self._execute(main, home)

    def _rewritten(self, file: str, source: str) -> str:
        tree = Rewriter(file, source, self.sites).visit(ast.parse(source))
        return ast.unparse(ast.fix_missing_locations(tree))

    def _notebook(self, file: Path) -> str:
        cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
        parts = []
        for number, cell in enumerate(cells):
            if cell["cell_type"] != "code":
                continue
            source = "".join(cell["source"])
            if source.startswith("%%"):
                continue
            plain = "\n".join(neutral(line) for line in source.split("\n"))
            parts.append(self._rewritten(f"{file}#{number}", plain))
        return "\n".join(parts)

    def _execute(self, main: Path, home: Path) -> str | None:
        known, path, arguments, place = set(sys.modules), list(sys.path), sys.argv, Path.cwd()
        sys.path.insert(0, str(home))
        sys.argv = [str(main)]
        os.chdir(home)
        self.keras.utils.set_random_seed(1)
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                runpy.run_path(str(main), run_name="__main__")
        except SystemExit as stop:
            return f"exit status {stop.code}" if stop.code else None
        except BaseException:
            return traceback.format_exc()
        finally:
            os.chdir(place)
            sys.path[:], sys.argv = path, arguments
            for name in set(sys.modules) - known:
                if str(getattr(sys.modules[name], "__file__", "")).startswith(str(home)):
                    del sys.modules[name]
            self.keras.backend.clear_session()
        return None


def main() -> int:
    """Traces every program named on the command line."""
    output, *names = sys.argv[1:]
    tracer, failures, seconds = Tracer(), {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for number, name in enumerate(names):
            start = time.perf_counter()
            failure = tracer.run(Path(name), Path(folder) / str(number))
            seconds[name] = round(time.perf_counter() - start, 2)
            if failure:
                failures[name] = failure
    files: dict[str, list[Any]] = {}
    for site in tracer.sites:
        if site.executed:
            files.setdefault(site.file, []).append([site.start, site.end, sorted(site.reached)])
    Path(output).write_text(json.dumps({"files": files, "failures": failures, "seconds": seconds}, indent=1))
    for name, failure in failures.items():
        print(f"{name}:\n{failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
