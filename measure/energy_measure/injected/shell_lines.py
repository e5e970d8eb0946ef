"""`files = !ls` in a notebook, as IPython does it: the lines that the command prints (Python 3.8 to 3.13)."""

from __future__ import annotations

import ast
import re
import subprocess

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SHELL = "__energy_shell__"
_NAME = re.compile(r"\{([A-Za-z_][\w.]*)\}|\$([A-Za-z_]\w*)")


class Lines(list):  # type: ignore[type-arg]
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


def run_assigned(tree: ast.Module, commands: dict[str, str], names: dict[str, Any]) -> None:
    """Have the assignments of a cell at these lines run their commands."""

    def lines_of(command: str) -> Lines:
        def value(found: re.Match[str]) -> str:
            first, *rest = (found[1] or found[2]).split(".")
            if first not in names:
                return found[0]  # the shell's own
            held = names[first]
            for part in rest:
                held = getattr(held, part)
            return str(held)

        done = subprocess.run(
            _NAME.sub(value, command),
            shell=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        return Lines(done.stdout.decode("utf-8", "replace").splitlines())

    names[SHELL] = lines_of
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and str(node.lineno) in commands:
            command = ast.Constant(commands[str(node.lineno)], kind=None)
            call = ast.Call(ast.Name(SHELL, ast.Load()), [command], [])
            node.value = ast.fix_missing_locations(ast.copy_location(call, node.value))
