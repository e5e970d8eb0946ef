"""No text of others makes a search through it take for ever: patterns read each character a bounded number of times."""

from __future__ import annotations

import subprocess
import sys

MINUTES = 120
"""Seconds, of which all of it together takes one; each of these took hours when its pattern could be matched in many ways."""

HOSTILE = r"""
from pathlib import Path
from energy_code.analysis.call_text import call_text
from energy_code.rule_engine.edits.compiled import changes_itself
from energy_code.rule_engine.file_context import FileContext
from energy_code.rule_engine.queries.purity import is_rebound
from energy_code.static_shapes.values.written import _ONE
from energy_code.workspace.notebook import without_magic
from energy_data.untrusted.printable import composed
from energy_data.untrusted.toml import BadSettings, read_toml
from energy_lsp.features.programs.failed_run import place_of_failure
from energy_measure.campaign.find import FRAMEWORKS
from energy_measure.comparison.output_diff import _TIME

N = 400_000
settings = Path("settings.toml")
settings.write_text("\n" * N + '"a b" = ' + "[" * 50_000)
try:
    read_toml(settings)
except BadSettings as problem:
    assert "nested too deeply" in str(problem)
composed("\n" * N)
place_of_failure("Traceback (most recent call last)" + "\n" * N, Path("/"))
method = b"class M:\n    def call(self, x):\n%s\nz = 1\n"
assert not changes_itself(method % (b"        y = x + 1\n" * N))
assert changes_itself(method % (b"        y = x + 1\n" * N + b"        self.n += 1\n"))
changes_itself(b"    def call(\n" * N)
without_magic(b"%timeit -n" + b" " * N + b"x")
without_magic(b"%timeit -" + b"1" * N + b"! x")
for quote in (b"'a\\", b"\"a\\", b"'" * 3 + b"\\'", b"\\" + b"\"" * 3):
    call_text(b"f(" + quote * N)
for text in (b"\\" + b"\"" * 3 + b"\n", b"\"" * 3 + b"'\n\\", b"'" * 3 + b"\\", b"ab\"\\"):
    FileContext(text * N).code()
assert FileContext(b"x = 'y' # z\n").code() == b"x =" + b" " * 8 + b"\n"
FRAMEWORKS.search("\n" * N)
assert FRAMEWORKS.search("numpy\n\n  tensorflow==2.1")
is_rebound(b"\n" * N, "x")
is_rebound(b"x," * N, "x")
assert is_rebound(b"x = 1\na, x, b = 2\n", "x")
_ONE.findall("a" * N)
_ONE.findall("a =" + " " * N)
_TIME.sub("", "1," * (N // 10))
_TIME.sub("", "1" * (N // 10))
print("ended")
"""


def test_searches_end(tmp_path: object) -> None:
    done = subprocess.run(
        [sys.executable, "-c", HOSTILE], cwd=str(tmp_path), capture_output=True, text=True, timeout=MINUTES
    )
    assert done.stdout == "ended\n", done.stderr
