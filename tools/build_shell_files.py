"""Write what a shell knows of the command: completions for bash, zsh and fish, and a man page. Made from click.

They lie in server/shell, and pip installs them where shells and man look. A test fails when they differ from the code.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import click
from click.shell_completion import get_completion_class

from energy_lsp.cli import main as program

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "server" / "shell"
NAME, VARIABLE = "energy-lsp", "_ENERGY_LSP_COMPLETE"
COMPLETIONS = {"bash": "energy-lsp.bash", "zsh": "_energy-lsp", "fish": "energy-lsp.fish"}


def completion(shell: str) -> str:
    """The script that asks the program itself what may follow."""
    maker = get_completion_class(shell)
    assert maker is not None
    source = maker(program, {}, NAME, VARIABLE).source().strip() + "\n"
    # click's script for fish would end a description at its first comma.
    return source.replace('string split ","', 'string split --max 1 ","')


def man_page() -> str:
    """One page with every command and option."""
    lines = [
        '.TH ENERGY-LSP 1 "" "energy-lsp" "User Commands"',
        ".SH NAME",
        "energy-lsp \\- what TensorFlow and Keras calls cost in joules, and what would cost less",
        ".SH SYNOPSIS",
        ".B energy-lsp",
        "COMMAND [OPTIONS] [ARGUMENTS]",
        ".SH DESCRIPTION",
        *paragraphs(program.help or ""),
    ]
    for path, command in walker().walk(program, (NAME,)):
        if len(path) > 1:
            lines += [f".SH {roff(' '.join(path[1:])).upper()}", *entry(path, command)]
    lines += [
        ".SH ENVIRONMENT",
        *item("ENERGY_LSP_DB", "The energy database, instead of the one in the user's data folder."),
        *item("ENERGY_LSP_ACTIVE_WATTS", "What one busy CPU draws above idle, where no sensor can be read."),
        *item("NO_COLOR", "Print without colours, as --no-color does."),
        *item("COLUMNS", "How wide tables may be, where the output is no terminal."),
        ".SH EXIT STATUS",
        "0: done. 1: found something, or the program failed. 2: could not begin; one sentence says why.",
    ]
    return "\n".join(lines) + "\n"


def entry(path: tuple[str, ...], command: click.Command) -> list[str]:
    """Usage, help and options of a command."""
    context = click.Context(command, info_name=" ".join(path), help_option_names=["-h", "--help"])
    usage = " ".join(command.collect_usage_pieces(context))
    lines = [f".B {roff(' '.join(path))}", roff(usage), ".PP", *paragraphs(command.help or "")]
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None:
            lines += item(*record)
    return lines


def item(term: str, text: str) -> list[str]:
    """A term with its description under it."""
    return [".TP", f".B {roff(term)}", roff(" ".join(text.split()))]


def paragraphs(text: str) -> list[str]:
    """Help as man has it."""
    lines: list[str] = []
    for part in text.strip().split("\n\n"):
        lines += [".PP", roff(" ".join(part.split()))]
    return lines


def roff(text: str) -> str:
    """Text that troff takes as it is."""
    safe = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{safe}" if safe.startswith((".", "'")) else safe


def walker() -> ModuleType:
    """The walk over all commands, from the tool beside this one."""
    spec = importlib.util.spec_from_file_location("build_docs", ROOT / "tools" / "build_docs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def files() -> dict[str, str]:
    """File name → content."""
    return {"energy-lsp.1": man_page(), **{name: completion(shell) for shell, name in COMPLETIONS.items()}}


def main() -> int:
    """Write the files that differ."""
    FOLDER.mkdir(exist_ok=True)
    for name, text in files().items():
        path = FOLDER / name
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
            print(f"Wrote {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
