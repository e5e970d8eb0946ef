"""The group of commands: each is imported when it is used, and whatever goes wrong ends in one clear sentence."""

from __future__ import annotations

import contextlib
import difflib
import importlib
import os
import select
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from energy_data.problems import Problem
from energy_data.untrusted.printable import composed, visible
from energy_data.untrusted.reading import NotRead
from energy_lsp.presentation.notation.markup import Plain
from energy_lsp.terminal.echo import say

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

NO_COLOR = "--no-color"


HYPHEN, KEPT = "-", "\u2011"


class WholeWords(click.HelpFormatter):
    """click's, which would break `energy-lsp` and `--no-color` at their hyphens."""

    def write_text(self, text: str) -> None:
        """A paragraph, broken between words."""
        indent = " " * self.current_indent
        kept = text.replace(HYPHEN, KEPT)
        self.write(click.wrap_text(kept, self.width, indent, indent, preserve_paragraphs=True))
        self.write("\n")

    def write_dl(self, rows: Iterable[tuple[str, str]], *args: Any, **kwargs: Any) -> None:
        """Terms and their descriptions, broken between words."""
        super().write_dl([(term, text.replace(HYPHEN, KEPT)) for term, text in rows], *args, **kwargs)

    def getvalue(self) -> str:
        """What was written, with hyphens as they are typed."""
        return super().getvalue().replace(KEPT, HYPHEN)


click.Context.formatter_class = WholeWords  # commands make their own contexts, of whatever group they are in


class Suggesting(click.Group):
    """A group that names the nearest command where it has none of that name, and whose help is not cut."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; a wrong name is answered with the nearest one."""
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            near = nearest(name, self.list_commands(ctx), f"{ctx.command_path} --help")
            ctx.fail(f"There is no command {name[:60]!r}. {near}")
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Commands and options that a shell may offer; of a command its first sentence, which click would cut."""
        offered = super().shell_complete(ctx, incomplete)
        for item in offered:
            command = self.get_command(ctx, item.value)
            if command is not None:
                item.help = _first_sentence(command.help or "")
        return offered

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands with the first sentence of their help, however long."""
        rows = []
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is not None and not command.hidden:
                rows.append((name, _first_sentence(command.help or "")))
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def _first_sentence(text: str) -> str:
    paragraph = " ".join(text.strip().split("\n\n")[0].split())
    return paragraph.split(". ")[0].rstrip(".") + "."


def nearest(name: str, known: Iterable[str], listed_by: str) -> str:
    """What may have been meant, or the command that lists all."""
    close = difflib.get_close_matches(name[:60].lower(), list(known), n=2, cutoff=0.6)
    if close:
        return f"Did you mean {' or '.join(close)}?"
    return f"`{listed_by}` names them all."


class LazyGroup(Suggesting):
    """A group that imports a command's module only when that command is asked for."""

    def __init__(self, *args: Any, modules: Mapping[str, str], package: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._modules = modules
        self._package = package

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take `--no-color` wherever it stands: what follows `--` belongs to the measured program."""
        ours = args[: args.index("--")] if "--" in args else args
        if NO_COLOR in ours:
            os.environ["NO_COLOR"] = "1"  # for rich, and for the processes that are started
            args = [one for one in ours if one != NO_COLOR] + args[len(ours) :]
        return super().parse_args(ctx, args)

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Read the arguments."""
        with _errors_fit_to_print():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; what the user can mend is one sentence on stderr and exit status 2."""
        try:
            try:
                with _errors_fit_to_print():
                    return super().invoke(ctx)
            finally:
                with contextlib.suppress(ValueError):  # somebody closed it
                    sys.stdout.flush()
        except BrokenPipeError:
            if not _nobody_reads():
                raise
            # `| head` has seen enough: that is no error. What is left in the buffer goes where somebody could read it.
            os.dup2(os.pipe()[1], sys.stdout.fileno())
            ctx.exit(0)
        except Problem as problem:
            # A sentence may hold text from a file: nothing that a terminal would act on.
            for line in str(problem).split("\n"):
                say(("  " if line.startswith(" ") else "") + Plain().text(line), err=True)
            ctx.exit(2)
        except NotRead as problem:
            say(f"{visible(problem.filename)} is not read: {problem.strerror}; name another.", err=True)
            ctx.exit(2)
        except PermissionError as problem:
            if problem.filename is None:
                raise
            say(
                f"{visible(problem.filename)} may not be opened: change its permissions, or name another.",
                err=True,
            )
            ctx.exit(2)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All commands, in the order of the table."""
        return list(self._modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one command."""
        target = self._modules.get(cmd_name)
        if target is None:
            return None
        module, _, attribute = target.partition(":")
        command = getattr(importlib.import_module(f"{self._package}.{module}"), attribute)
        assert isinstance(command, click.Command)
        return command


@contextlib.contextmanager
def _errors_fit_to_print() -> Iterator[None]:
    """click prints errors by itself, with arguments in them that may be the names of others' files."""
    try:
        yield
    except click.ClickException as error:
        vars(error)["message"] = composed(error.message)  # for its types it is final
        raise


def _nobody_reads() -> bool:
    """Whether it is standard output that broke, and not a pipe of ours to another process."""
    if sys.platform == "win32":
        return True
    try:
        poll = select.poll()
        poll.register(sys.stdout.fileno(), select.POLLOUT)
        return any(event & select.POLLERR for _, event in poll.poll(0))
    except (AttributeError, OSError, ValueError):  # no file behind it
        return True
