"""The program's output, exit status and results are the same with and without the probe."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Same = Callable[..., Any]


def test_calls_in_all_their_shapes(bench: Any, same: Same, python: Path) -> None:
    bench.write(
        main="""
        import tensorflow as tf

        def order(name, value):
            print("evaluated", name)
            return value

        numbers = [tf.add(i, j) for i in range(2) for j in range(2)]
        print(numbers, {tf.constant("k"): tf.constant("v")}, *map(str, [tf.square(3)]))
        print(tf.add(order("first", 1), y=order("second", 2)), tf.add(*[order("starred", 1)], **{"y": 2}))
        print(f"{tf.add(1, 2)!r:>{tf.constant(9)}}|", tf.reduce_sum(x for x in range(4)))
        print(tf.reduce_sum((tf.square(x) for x in range(3)), axis=None))
        if (walrus := tf.constant(4)) > 3:
            print(walrus, tf.add(tf.square(tf.add(1, 2)), tf.constant(1)))
        long = tf.add(
            # a comment between
            tf.constant(
                5,
            ),
            6,  # and another
        )
        print(long, (tf.square)(2), (lambda x: tf.square(x))(5), tf.map_fn(lambda x: tf.add(x, 1), [1, 2]))
        variable = tf.Variable(1)
        print(variable.assign_add(tf.constant(2)).assign_add(3).value)
        print("ü", tf.constant("é"), tf.add("ä", "ß"))
        """
    )
    found = same(python)
    assert found.count("tensorflow.math.add") == 13
    assert found.count("tensorflow.Variable.assign_add") == 2


def test_exit_handlers_are_part_of_the_program(bench: Any, same: Same, python: Path) -> None:
    bench.write(
        main="""
        import atexit
        import sys
        from concurrent.futures import ThreadPoolExecutor
        import tensorflow as tf

        pool = ThreadPoolExecutor(2)  # never shut down
        print(pool.submit(len, "abc").result())

        @atexit.register
        def bye():
            print("bye", tf.square(3))

        def never():
            print("unregistered")

        atexit.register(print, "before", file=sys.stdout)
        atexit.register(never)
        atexit.unregister(never)
        sys.exit(3)
        """
    )
    assert same(python).count("tensorflow.math.square") == 1


def test_classes_and_super(bench: Any, same: Same, python: Path) -> None:
    bench.write(
        main='''
        import inspect
        import tensorflow as tf

        class Classifier(tf.keras.Model):
            """Doubles."""

            scale = tf.constant(2)

            def call(self, x):
                return tf.add(x, self.scale)

            def fit(self, x, y=None):
                """Fits, and says so."""
                history = super().fit(tf.constant(x))
                return history

            def train_step(self, x):
                return [tf.square(item) for item in x]

        model = Classifier()
        print(model.fit([1, 2]), model.predict([3]), model(4))
        print(inspect.getsource(Classifier.fit), Classifier.fit.__doc__, Classifier.fit.__qualname__)
        print(Classifier.fit.__code__.co_firstlineno, Classifier.fit.__code__.co_freevars)
        '''
    )
    found = same(python)
    assert found.count("tensorflow.math.square") == 2
    fit = [
        row
        for row in range(len(found.events))
        if found.sites[found.events.site[row]].api == "keras.Model.fit"
    ]
    assert len(fit) == 1, "super().fit; the user's own fit is no API"
    squares = [row for row in range(len(found.events)) if found.events.parent[row] == fit[0]]
    assert len(squares) == 2


def test_generators_async_and_recursion(bench: Any, same: Same, python: Path) -> None:
    bench.write(
        main="""
        import asyncio
        import tensorflow as tf

        def numbers(n):
            for i in range(n):
                got = yield tf.constant(i)
                print("got", got)
            return tf.constant("done")

        def all_numbers():
            result = yield from numbers(2)
            print(result)

        generator = all_numbers()
        print(next(generator), generator.send("a"))
        try:
            generator.send("b")
        except StopIteration as stop:
            print("stopped", stop.value)
        thrown = numbers(3)
        next(thrown)
        try:
            thrown.throw(KeyError("inside"))
        except KeyError as error:
            print(repr(error))
        closed = numbers(1)
        next(closed)
        closed.close()

        async def wait(x):
            await asyncio.sleep(tf.constant(0.001))
            return tf.add(x, await one())

        async def one():
            return tf.constant(1)

        async def stream():
            for i in range(2):
                yield tf.constant(i)

        async def main():
            print(await asyncio.gather(wait(1), wait(2)), [i async for i in stream()])

        asyncio.run(main())

        def factorial(n):
            return 1 if n < 2 else n * tf.py_function(factorial, [n - 1], None)

        print(factorial(12))
        """
    )
    found = same(python)
    assert found.count("tensorflow.py_function") == 11
    assert found.events.depth.max() == 10


def test_threads(bench: Any, same: Same, python: Path) -> None:
    bench.write(
        main="""
        import threading
        import tensorflow as tf

        results = {}

        def work(name):
            results[name] = tf.map_fn(lambda x: tf.add(x, name), list(range(50)))

        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print(sorted(results.items())[3][1][-1], len(results))
        late = threading.Thread(target=lambda: print("late", tf.square(3)))
        late.start()
        """
    )
    found = same(python)
    assert found.count("tensorflow.math.add") == 200
    assert found.count("tensorflow.math.square") == 1, "a thread that ends after the main program"
    assert len(set(found.events.thread.tolist())) == 5


def test_exceptions_warnings_and_tracebacks(bench: Any, same: Same, python: Path) -> None:
    bench.write(
        main="""
        import logging
        import sys
        import traceback
        import tensorflow as tf
        import helper

        try:
            tf.sqrt(tf.constant(-1))
        except ValueError as error:
            traceback.print_exc()
            print(error, error.__context__, error.__cause__)
        try:
            tf.add(1)
        except TypeError as error:
            print(error)
        try:
            try:
                tf.sqrt(-2)
            except ValueError as error:
                raise RuntimeError("and then") from error
        except RuntimeError:
            logging.exception("logged")
        try:
            helper.root(-9)
        except ValueError:
            print(traceback.format_exc().count("File"), file=sys.stderr)
            traceback.print_exc()
        print("before the end")
        print(tf.add(helper.root(4), tf.map_fn(lambda x: tf.sqrt(
            x), [1, -3])))
        """,
        helper="""
        import tensorflow as tf

        def root(x):
            return (1 +
                    tf.sqrt(x) + 2)
        """,
    )
    found = same(python)
    assert found.outcome.status == 1
    assert "probe" not in found.outcome.errors


@pytest.mark.parametrize(
    "leave", ["sys.exit()", "sys.exit(3)", "sys.exit('told why')", "raise SystemExit(True)"]
)
def test_exit_status(bench: Any, same: Same, leave: str) -> None:
    import sys

    bench.write(
        main=f"""
        import atexit, sys
        import tensorflow as tf
        atexit.register(lambda: print("at exit", tf.square(2)))
        print(tf.constant(1), flush=True)
        {leave}
        """
    )
    same(Path(sys.executable))


def test_names_paths_and_arguments(bench: Any, same: Same, python: Path) -> None:
    (bench.project / "data.txt").write_text("from a relative path")
    bench.write(
        {
            "tools/main.py": """
        import os
        import sys
        import sibling
        import tensorflow as tf

        print(__name__, __file__, __spec__, __package__, __doc__, sorted(globals()))
        print(sys.argv, sys.path[0], os.getcwd(), sys.modules["__main__"].__dict__ is globals())
        print(open("data.txt").read(), tf.constant(1), sibling.value(), sibling.__file__, sibling.__name__)
        print(sibling.__spec__.origin, sibling.__doc__)
        """,
            "tools/sibling.py": '''
        """What a sibling says."""
        from __future__ import annotations
        import tensorflow as tf

        def value(x: Undefined = 1):
            return tf.add(x, 1)
        ''',
        }
    )
    found = same(python, "tools/main.py", "--flag", "two words")
    assert found.count("tensorflow.math.add") == 1, "an imported module is instrumented"


def test_packages_and_relative_imports(bench: Any, same: Same, python: Path) -> None:
    bench.write(
        {
            "main.py": """
        import importlib
        import model.layers
        from model import build

        print(build(3), model.layers.double(4))
        print(importlib.import_module("model.extra").extra())
        print(importlib.reload(model.layers).double(5))
        """,
            "model/__init__.py": """
        from .layers import double

        def build(x):
            return double(x)
        """,
            "model/layers.py": """
        import tensorflow as tf
        from . import names

        def double(x):
            return tf.add(x, x), names.NAME
        """,
            "model/names.py": "NAME = 'n'",
            "model/extra.py": """
        import tensorflow as tf

        def extra():
            return tf.square(7)
        """,
        }
    )
    found = same(python)
    assert found.count("tensorflow.math.add") == 3
    assert found.count("tensorflow.math.square") == 1


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_children_of_multiprocessing(bench: Any, same: Same, python: Path, method: str) -> None:
    """Workers of a pool are killed, other children end by themselves: the calls of both are recorded."""
    bench.write(
        main=f"""
        import multiprocessing
        import tensorflow as tf
        import helper

        def work(x):
            return tf.square(x)

        if __name__ == "__main__":
            context = multiprocessing.get_context({method!r})
            with context.Pool(2) as pool:
                print(pool.map(work, range(6)), pool.map(helper.more, range(3)))
            child = context.Process(target=helper.more, args=(3,))
            child.start()
            child.join()
            print(tf.constant("end"), child.exitcode, __name__)
        """,
        helper="""
        import tensorflow as tf

        def more(x):
            return tf.add(x, 1)
        """,
    )
    found = same(python)
    assert found.count("tensorflow.math.square") == 6
    assert found.count("tensorflow.math.add") == 4


def test_a_program_that_leaves_without_goodbye(bench: Any, same: Same, python: Path) -> None:
    bench.write(
        main="""
        import os
        import tensorflow as tf
        print(tf.square(3), flush=True)
        os._exit(4)
        """
    )
    found = same(python)
    assert found.outcome.status == 4
    assert found.count("tensorflow.math.square") == 1


def test_a_syntax_error_is_told_as_python_tells_it(bench: Any, same: Same, python: Path) -> None:
    bench.write(main="import tensorflow as tf\ntf.constant(1)\nimport broken\n", broken="x = 1\n\ndef (:\n")
    assert same(python).outcome.status == 1


def test_nested_calls_are_told_apart(bench: Any, same: Same) -> None:
    import sys

    bench.write(
        main="""
        import tensorflow as tf
        print(tf.map_fn(lambda x: tf.identity(x), [1, 2]))
        """
    )
    found = same(Path(sys.executable))
    events = found.events
    outer = next(row for row in range(3) if events.depth[row] == 0)
    inner = [row for row in range(3) if events.depth[row] == 1]
    assert [int(events.parent[row]) for row in inner] == [outer, outer]
    assert int(events.nested[outer]) == sum(int(events.busy[row]) for row in inner)
    assert int(events.busy[outer]) - int(events.nested[outer]) < 20_000_000 < int(events.busy[outer])


def test_notebook_runs_cell_by_cell(bench: Any, python: Path) -> None:
    cells = [
        "%matplotlib inline\nimport tensorflow as tf\nimport inspect",
        "def double(x):\n    return tf.add(x, x)",
        "!ls\ny = double(tf.constant(4))\ny",
        "print(inspect.getsource(double), end='')\nprint(__name__, '__file__' in globals())",
        "%%html\n<b>no python</b>",
        "import asyncio\nawait asyncio.sleep(0)\n[tf.square(y)]",
        "tf.square(5);",
        "display(tf.constant('shown'))\n%time",
        "def fails():\n    tf.sqrt(-1)\nfails()",
        "print('never')",
    ]
    notebook = {
        "cells": [{"cell_type": "code", "source": cell, "metadata": {}, "outputs": []} for cell in cells],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    (bench.project / "study.ipynb").write_text(json.dumps(notebook))
    found = bench.probed(python, "study.ipynb")
    assert found.outcome.output == (
        "study.ipynb\n8\ndef double(x):\n    return tf.add(x, x)\n__main__ False\n[64]\n'shown'\n"
    )
    assert found.outcome.status == 1
    assert 'File "<study.ipynb cell 9>", line 2, in fails' in found.outcome.errors
    assert "launcher.py" not in found.outcome.errors
    assert found.count("tensorflow.math.square") == 2
    places = [site.place for site in found.sites if site.api == "tensorflow.math.sqrt"]
    assert places == ["study.ipynb cell 9:2"]
