"""The rules in a terminal: a line each, and what they have in common once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from rich.text import Text

from energy_code.rule_engine.evidence.verdict import Verdict, percent, place
from energy_code.rule_engine.rule import CATEGORIES, Rule
from energy_data.model import RuleEvidence
from energy_data.untrusted.printable import visible
from energy_lsp.terminal.console import Screen
from energy_lsp.terminal.table import Column, Table

FIXES = {"safe": "safe", "review": "review", "none": "by hand"}
SOURCES = {"here": "here", "team": "team", "published": "shipped"}


def print_rules(rules: Iterable[tuple[Rule, Verdict]]) -> None:
    """A table for each category; machine, meter and size of the measurements below, where they are the same."""
    screen = Screen()
    known = list(rules)
    evidence = [said.evidence for _, said in known if said.evidence is not None]
    places = Counter(place(one) for one in evidence)
    sizes = Counter(one.size for one in evidence)
    usual = sizes.most_common(1)[0][0] if sizes else ""
    for category, title in CATEGORIES.items():
        some = [(rule, said) for rule, said in known if rule.category == category and rule.saves]
        if some:
            _table(title, some, usual, several=len(places) > 1).print(screen)
    advice = Table([Column("rule", "name"), Column("what it says", "prose")], "Advice that does not save")
    for rule, _ in known:
        if not rule.saves:
            advice.add(rule.name, rule.title)
    if advice.rows:
        advice.print(screen)
    screen.say("Fix: safe is applied by `check --fix`, review is offered by the editor, by hand has none.")
    for words, count in places.most_common():
        pairs = sorted({one.pairs for one in evidence if place(one) == words})
        counts = f"{pairs[0]}" if len(pairs) == 1 else f"{pairs[0]} to {pairs[-1]}"
        screen.say(
            f"Energy of {count} rules: {words}; {counts} pairs of runs each, {usual} inputs unless others are named."
        )
    screen.say("`energy-lsp rules show RULE` has the whole story, `rules measure RULE` measures it here.")


def print_page(page: str) -> None:
    """A rule's page: sentences wrapped, code as it is, the table of its evidence as wide as there is room."""
    screen = Screen()
    code, rows = False, list[list[str]]()
    for line in [*page.splitlines(), ""]:
        code ^= line.startswith("```")
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
            continue
        if rows:
            _evidence(rows).print(screen)
            rows = []
        if code:
            screen.raw(Text(visible(line)))
        else:
            screen.say(line)


def _evidence(rows: list[list[str]]) -> Table:
    """Size, mode, energy and verdict stay; what only says how sure it is goes first."""
    drops = {"p": 1, "pairs": 3, "control": 4, "95% interval": 2}
    table = Table([Column(title, "text", drops.get(title, 0)) for title in rows[0]])
    for row in rows[2:]:
        table.add(*row)
    return table


def _table(title: str, rules: Iterable[tuple[Rule, Verdict]], usual: str, *, several: bool) -> Table:
    columns = [
        Column("rule", "name"),
        Column("fix", drop=2),
        Column("energy", "number"),
        Column("where", drop=3),
        Column("what it does", "prose"),
    ]
    table = Table(columns, title)
    for rule, said in rules:
        found = said.evidence
        where = SOURCES[found.source] if several and found is not None else ""
        table.add(rule.name, FIXES[rule.safety], _saving(found), where, _what(rule, said, usual))
    return table


def _saving(evidence: RuleEvidence | None) -> str:
    if evidence is None:
        return "not measured"
    if not evidence.differs:
        return "no difference"
    return f"{percent(evidence)} ± {max(1, round((evidence.high - evidence.low) / 2 * 100))}"


def _what(rule: Rule, said: Verdict, usual: str) -> str:
    """The title, and the sizes at which it is another story."""
    notes = []
    if said.evidence is not None and said.evidence.size != usual:
        notes.append(f"{said.evidence.size} inputs")
    if "; " in said.text and said.text.rsplit("; ", 1)[1].startswith(("small", "medium", "large")):
        last = said.text.rsplit("; ", 1)[1]
        if " cost " in last:
            notes.append(last)
    return rule.title + (f" ({'; '.join(notes)})" if notes else "")
