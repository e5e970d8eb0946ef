"""Code in the documentation: commands and options exist, programs parse, JSON and TOML are what they say."""

from __future__ import annotations

import ast
import json
import pkgutil
import re
import shlex
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import NamedTuple

import click
import pytest

from energy_lsp.cli import main
from energy_lsp.workspace.settings import Settings
from energy_measure.campaign.plan import read_plan

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PROMPT = re.compile(r"^\$ ")


class Block(NamedTuple):
    """A fenced block of a page."""

    page: Path
    line: int
    language: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks() -> Iterator[Block]:
    for page in PAGES:
        fence = re.compile(r"^( *)```(\S*)[^\n]*\n(.*?)^\1```$", re.M | re.S)
        text = page.read_text("utf-8")
        for match in fence.finditer(text):
            line = text.count("\n", 0, match.start()) + 2
            lines = [part.removeprefix(match[1]) for part in match[3].splitlines()]
            yield Block(page, line, match[2], "\n".join(lines) + "\n")


def of(*languages: str) -> list[Block]:
    return [block for block in blocks() if block.language in languages]


def commands() -> Iterator[tuple[str, str]]:
    """Every `energy-lsp …` of shell blocks and of the text, with its place."""
    for block in of("sh", "bash", "shell", "console", "text", ""):
        joined = block.text.replace("\\\n", " ")
        for line in joined.splitlines():
            command = PROMPT.sub("", line.strip()).partition(" # ")[0].strip()
            command = re.sub(r"^(\.venv/bin/|python -m )", "", command).replace(
                "energy_lsp ", "energy-lsp ", 1
            )
            if command.startswith("energy-lsp "):
                yield block.place, command
    for page in PAGES:
        if page.name == "commands.md":  # generated, with usage lines that are no commands
            continue
        for number, line in enumerate(page.read_text("utf-8").splitlines(), start=1):
            for command in re.findall(r"`(energy-lsp [^`]+)`", line):
                yield f"{page.relative_to(ROOT)}:{number}", command


def faults(command: str) -> Iterator[str]:
    """Commands below `energy-lsp` and options that do not exist."""
    try:
        words = shlex.split(re.sub(r"[\[\]…|&;<>].*|\.\.\.", " ", command))[1:]
    except ValueError:
        return  # half a quotation: prose
    found: click.Command = main
    context = click.Context(main)
    while isinstance(found, click.Group) and words and not words[0].startswith("-"):
        if words[0].isupper():  # stands for any
            return
        if found.name == "campaign" and words[0].endswith(".toml"):  # a plan: `run` is meant
            words = ["run", *words]
        try:
            _, below, words = found.resolve_command(context, words)
        except click.UsageError as problem:
            yield problem.message
            return
        assert below is not None
        found, context = below, click.Context(below, parent=context)
    known = {
        name
        for option in found.get_params(click.Context(found))
        for name in (*option.opts, *option.secondary_opts)
    }
    known |= {"-h", "--help", "--version"}
    for word in words:
        if word == "--":
            return
        name = word.partition("=")[0]
        if re.fullmatch(r"--[a-z][\w-]*|-[a-zA-Z]", name) and name not in known:
            yield f"{found.name} has no option {name}"


def test_commands_and_options_of_the_documentation_exist() -> None:
    found = list(commands())
    assert len(found) > 40
    wrong = [f"{place}: `{command}`: {fault}" for place, command in found for fault in faults(command)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("block", of("python", "py"), ids=lambda block: block.place)
def test_programs_of_the_documentation_parse(block: Block) -> None:
    ast.parse(block.text)


@pytest.mark.parametrize("block", of("json", "jsonc"), ids=lambda block: block.place)
def test_json_of_the_documentation_parses(block: Block) -> None:
    text = re.sub(r"(^|\s)//[^\n]*", "", block.text) if block.language == "jsonc" else block.text
    json.loads(text)


@pytest.mark.parametrize("block", of("toml"), ids=lambda block: block.place)
def test_toml_of_the_documentation_parses(block: Block) -> None:
    table = tomllib.loads(block.text)
    assert table
    settings = {**table.get("tool", {}).get("energy-lsp", {})}
    settings.pop("measure", None)
    assert {name.replace("-", "_") for name in settings} <= {option.name for option in fields(Settings)}


@pytest.mark.parametrize(
    "block", [block for block in of("toml") if "[campaign]" in block.text], ids=lambda block: block.place
)
def test_plans_of_the_documentation_are_plans(block: Block, tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(block.text, "utf-8")
    assert read_plan(path).projects


DOTTED = re.compile(r"`(energy_(?:data|code|measure|lsp)(?:\.\w+)+)")


def test_names_of_our_code_exist() -> None:
    wrong = []
    for page in PAGES:
        for number, line in enumerate(page.read_text("utf-8").splitlines(), start=1):
            for name in DOTTED.findall(line):
                try:
                    pkgutil.resolve_name(name)
                except (ImportError, AttributeError) as problem:
                    wrong.append(f"{page.relative_to(ROOT)}:{number}: {problem}")
    assert not wrong, "\n".join(wrong)


FILE = re.compile(r"`((?:[\w.-]+/)+[\w.-]*)`")
PACKAGES = ("server/energy_code", "server/energy_lsp", "measure/energy_measure", "data/energy_data")


def test_files_of_ours_exist() -> None:
    """Names that begin at the top of the repository, or with a folder of a package."""
    tops = [ROOT, *(ROOT / package for package in PACKAGES)]
    wrong = []
    for page in PAGES:
        for number, line in enumerate(page.read_text("utf-8").splitlines(), start=1):
            for name in FILE.findall(line):
                first = name.partition("/")[0]
                ours = [top for top in tops if (top / first).is_dir() and not first.startswith(".")]
                is_module = any((top / f"{name}.py").exists() for top in ours)
                is_method = re.search(r"/[a-z]+([A-Z]\w*|tion)$", name)  # of the protocol
                if (
                    ours
                    and not is_module
                    and not is_method
                    and not any((top / name).exists() for top in ours)
                ):
                    wrong.append(f"{page.relative_to(ROOT)}:{number}: {name}")
    assert not wrong, "\n".join(wrong)
