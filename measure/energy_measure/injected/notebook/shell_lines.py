"""`files = !ls`, `!ls` and `%cd` in a notebook, as IPython does them (Python 3.8 to 3.13)."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SHELL = "__energy_shell__"
SHOWN = "__energy_shell_shown__"
_INSTALLERS = re.compile(r"\b(pip[\d.]*|conda|mamba|apt|apt-get|uv|brew)\b")
"""What would change the environment under the measurement, as the first cell of many notebooks does."""
_NAME = re.compile(r"\{([A-Za-z_][\w.]*)\}|\$([A-Za-z_]\w*)")


class ShellLines(list):  # type: ignore[type-arg]
    """Lines with the names that IPython gives to the other forms of them."""

    @property
    def l(self) -> list[str]:  # noqa: E743 (IPython's name)
        """The lines."""
        return list(self)

    @property
    def n(self) -> str:
        """One text with line ends."""
        return "\n".join(self)

    @property
    def s(self) -> str:
        """One text with spaces."""
        return " ".join(self)


def line_magic(name: str, value: str = "") -> None:
    """`%cd` and `%env`, `%set_env`."""
    if name == "cd":
        os.chdir(os.path.expanduser(value.strip().strip("'\"") or "~"))
    elif value:
        variable, _, given = value.partition("=" if "=" in value else " ")
        os.environ[variable.strip()] = given.strip()


def run_assigned(tree: ast.Module, commands: dict[str, str], names: dict[str, Any]) -> None:
    """Have a cell run the commands at these lines: to have their lines where they are assigned, else to show them."""

    def expanded(command: str) -> str:
        def value(found: re.Match[str]) -> str:
            first, *rest = (found[1] or found[2]).split(".")
            if first not in names:
                return found[0]  # the shell's own
            held = names[first]
            for part in rest:
                held = getattr(held, part)
            return str(held)

        return _NAME.sub(value, command)

    def lines_of(command: str) -> ShellLines:
        done = subprocess.run(
            expanded(command),
            shell=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        return ShellLines(done.stdout.decode("utf-8", "replace").splitlines())

    def show(command: str) -> None:
        if command.startswith("%"):
            line_magic(*expanded(command)[1:].split(None, 1))
            return
        if {"install", "uninstall"} & set(command.split()) and _INSTALLERS.search(command):
            print(
                f"energy-lsp: `!{command}` is left out: nothing is installed while measuring.",
                file=sys.stderr,
            )
            return
        sys.stdout.flush()
        done = subprocess.run(expanded(command), shell=True, stdin=subprocess.DEVNULL, check=False)
        names["_exit_code"] = done.returncode

    names[SHELL], names[SHOWN] = lines_of, show
    for node in ast.walk(tree):
        if isinstance(node, (ast.Assign, ast.Expr)) and str(node.lineno) in commands:
            if isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant):
                continue
            command = ast.Constant(commands[str(node.lineno)], kind=None)
            runs = SHELL if isinstance(node, ast.Assign) else SHOWN
            call = ast.Call(ast.Name(runs, ast.Load()), [command], [])
            node.value = ast.fix_missing_locations(ast.copy_location(call, node.value))
