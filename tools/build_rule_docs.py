"""Write docs/rules/ from the rules themselves and the evidence that ships with them.

Usage: python tools/build_rule_docs.py [--check]
"""

from __future__ import annotations

import sys
from pathlib import Path

from energy_code.rule_engine.evidence.pages import advice_page, index_page, rule_page
from energy_code.rules import ALL
from energy_data.published.figures import shipped_evidence

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "rules"
BY_HAND = {"false-alarms.md"}


def pages() -> dict[str, str]:
    """File name → content."""
    evidence = {name: shipped_evidence(name) for name in ALL}
    made = {f"{name}.md": rule_page(rule, evidence[name]) for name, rule in ALL.items() if rule.saves}
    made["README.md"] = index_page(ALL)
    made["advice-that-does-not-save.md"] = advice_page(ALL, evidence)
    return made


def main() -> int:
    made = pages()
    present = {path.name for path in FOLDER.glob("*.md")} - BY_HAND
    stale = sorted(
        name
        for name in present | made.keys()
        if name not in made or name not in present or (FOLDER / name).read_text("utf-8") != made[name]
    )
    if "--check" in sys.argv[1:]:
        if stale:
            print(f"docs/rules is not up to date ({', '.join(stale)}): run python tools/build_rule_docs.py")
        return 1 if stale else 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in stale:
        if name in made:
            (FOLDER / name).write_text(made[name], "utf-8")
        else:
            (FOLDER / name).unlink()
    print(f"docs/rules: {len(made)} pages, {len(stale)} changed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
