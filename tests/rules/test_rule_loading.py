"""A new file is a new rule, and nothing heavy is loaded to look at code."""

from __future__ import annotations

import subprocess
import sys
import textwrap

from energy_code.rule_engine.dispatch import index_of
from energy_code.rule_engine.loading import load
from energy_code.rule_engine.runner import find
from energy_code.workspace.document import Document

RULE = '''
from energy_code.rule_engine import Change, Rule


class Negate(Rule):
    """Negate with a sign.

    Shorter.
    """

    message = "write a sign"
    category = "arithmetic"
    changes = (Change("tf.negative($x)", "-$x"),)
'''


def test_a_rule_is_one_file(tmp_path, monkeypatch):
    package = tmp_path / "more_rules"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "negate_sign.py").write_text(RULE)
    (package / "_not_a_rule.py").write_text("raise RuntimeError('never imported')")
    monkeypatch.syspath_prepend(tmp_path)
    found = load(([str(package)], "more_rules"))
    assert list(found) == ["negate-sign"]
    findings = find(
        Document("import tensorflow as tf\ny = tf.negative(x)\n").analyse(), index_of(tuple(found.values()))
    )
    assert [finding.message for finding in findings] == ["write a sign"]
    assert findings[0].edits()[0].text == "-x"


def test_looking_at_code_loads_nothing_heavy():
    code = """
        import sys
        from energy_code import rules
        from energy_code.workspace.document import Document
        found = rules.find(Document("import tensorflow as tf\\ny = tf.pow(x, 2)\\n").analyse())
        assert [finding.rule.name for finding in found] == ["pow2"]
        print([name for name in ("libcst", "numpy", "scipy", "tensorflow", "sqlite3") if name in sys.modules])
        found[0].edits()
        print("libcst" in sys.modules)
    """
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True
    )
    assert result.stdout.splitlines() == ["[]", "True"]
