from __future__ import annotations

import importlib.util
import re
import sys
from dataclasses import fields
from pathlib import Path
from types import ModuleType

import click
import pytest
from click.testing import CliRunner

from energy_lsp.cli import main
from energy_lsp.workspace.settings import Settings, camel, kebab

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def build_docs() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_docs", ROOT / "tools" / "build_docs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["build_docs"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "name", ["docs/reference/commands.md", "docs/reference/settings.md", "docs/explanation/tour.md"]
)
def test_generated_pages_are_what_the_code_says(build_docs: ModuleType, name: str) -> None:
    written = (ROOT / name).read_text("utf-8")
    assert written == build_docs.PAGES[name](), "run python tools/build_docs.py"


def test_every_command_and_option_has_help(build_docs: ModuleType) -> None:
    for path, command in build_docs.walk(main, ("energy-lsp",)):
        assert command.help, f"{' '.join(path)} has no help"
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert parameter.help, f"{' '.join(path)} {parameter.opts[0]} has no help"


def test_every_setting_is_in_the_page() -> None:
    page = (ROOT / "docs" / "reference" / "settings.md").read_text("utf-8")
    for option in fields(Settings):
        assert f"| `{kebab(option.name)}` | `{camel(option.name)}` |" in page


def test_links_between_pages_lead_somewhere() -> None:
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page.relative_to(ROOT)} links to {target}"


def test_the_readme_shows_what_check_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    shown = re.search(
        r"```python\n(.*?)```\n\n```console\n\$ energy-lsp check score.py\n(.*?)```", readme, re.S
    )
    assert shown is not None
    (tmp_path / "score.py").write_text(shown[1], "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ENERGY_LSP_DB", str(tmp_path / "energy.db"))
    printed = CliRunner().invoke(main, ["check", "score.py"]).output
    missing = [
        line for line in shown[2].splitlines() if line[:25] not in printed
    ]  # the wording may differ behind
    assert not missing, f"put what is printed into README.md:\n{printed}"
