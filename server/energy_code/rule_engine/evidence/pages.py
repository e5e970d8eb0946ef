"""A rule's documentation page: its own docstring, examples and conditions, and what was measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from energy_code.rule_engine.evidence.verdict import percent, probability, verdict
from energy_code.rule_engine.rule import CATEGORIES, Rule
from energy_data.model import RuleEvidence

SAFETY = {
    "safe": "Safe fix: applied by “fix all”, the two sides are equal.",
    "review": "Fix to review: equal under the conditions above.",
    "none": "Reported without a fix.",
}
_MODES = (("eager", "eager code"), ("graph", "`tf.function`"), ("jit", "`jit_compile=True`"))


def rule_page(rule: Rule, evidence: Sequence[RuleEvidence]) -> str:
    """The whole page, as Markdown."""
    parts = [f"# {rule.name}", rule.page.strip()]
    parts += [f"{CATEGORIES[rule.category]}. {where(rule)}"]
    if rule.saves:
        parts[-1] += f" {SAFETY[rule.safety]}"
    for before, after in rule.examples:
        parts.append(f"```python\n{before}\n```\nbecomes\n```python\n{after}\n```")
    if rule.reports:
        parts += ["Reported:", *(f"```python\n{code}\n```" for code in rule.reports)]
    if rule.leave_alone:
        parts += ["Left alone:", *(f"```python\n{code}\n```" for code in rule.leave_alone)]
    parts += ["## Measured", evidence_table(evidence)]
    silent = [words for mode, words in _MODES if mode in rule.modes and not verdict(evidence, mode).suggested]
    if rule.saves and silent:
        parts.append(f"No saving in {', '.join(silent)}: suggested there only where a measurement shows one.")
    if rule.saves:
        parts.append(f"Switch off at one line with `# energy: ignore[{rule.name}]`.")
    parts.append(f"Measure here with `energy-lsp rules measure {rule.name}`.")
    return "\n\n".join(parts) + "\n"


def where(rule: Rule) -> str:
    """In which modes the rule speaks."""
    if not rule.saves:
        return "Advice that was measured and does not save: never reported."
    named = [words for mode, words in _MODES if mode in rule.modes]
    text = f"Applies in {', '.join(named)}"
    return text + ("." if rule.under_tape else "; silent under a `GradientTape`.")


def evidence_table(evidence: Iterable[RuleEvidence]) -> str:
    """Ratios of net energy, one line per size and mode."""
    items = list(evidence)
    if not items:
        return "Not measured yet."
    lines = [
        "| size | mode | energy after / before | 95% interval | control | pairs | p | verdict |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for item in items:
        change = percent(item) if item.differs else "no difference"
        lines.append(
            f"| {item.size} | {item.mode} | {item.ratio:.2f} | {item.low:.2f} to {item.high:.2f} "
            f"| {item.control_ratio:.2f} | {item.pairs} | {probability(item.p_value)} | {change} |"
        )
    return "\n".join(lines) + "\n\n" + _source(items)


def _source(items: Sequence[RuleEvidence]) -> str:
    seen = dict.fromkeys(
        f"{item.machine}, meter {item.meter}{' (estimated from CPU time)' if item.estimated else ''}, "
        f"TensorFlow {item.tensorflow}, {item.measured[:10]}"
        for item in items
    )
    return "; ".join(seen) + "."


def index_page(rules: Mapping[str, Rule]) -> str:
    """The list of all rules by category."""
    saving = [rule for rule in rules.values() if rule.saves]
    fixes = sum(rule.has_fix for rule in saving)
    lines = [
        "# Substitution rules",
        "",
        f"{len(saving)} rules, {fixes} of them with a quick fix. Each page says why the rule saves, when "
        "both sides are equal, and what was measured. Made by `tools/build_rule_docs.py` from the rules.",
        "",
        "See also [advice that does not save](advice-that-does-not-save.md) and "
        "[false alarms](false-alarms.md).",
    ]
    for category, title in CATEGORIES.items():
        lines += ["", f"## {title}", "", "| rule | | fix | where |", "|---|---|---|---|"]
        lines += [
            f"| [{rule.name}]({rule.name}.md) | {rule.title} | {rule.safety} | {_in_short(rule)} |"
            for rule in saving
            if rule.category == category
        ]
    return "\n".join(lines) + "\n"


def _in_short(rule: Rule) -> str:
    return ", ".join(sorted(rule.modes))


def advice_page(rules: Mapping[str, Rule], evidence: Mapping[str, Sequence[RuleEvidence]]) -> str:
    """Popular advice, measured."""
    parts = [
        "# Advice that does not save",
        "Advice that one often reads, measured like the rules. A ratio above 1 costs more energy. Another "
        "machine, above all one with a GPU, may answer differently: `energy-lsp rules measure` asks yours. "
        "Made by `tools/build_rule_docs.py` from the rules marked so.",
        "Also: replacing `fit_generator` by `fit` is a migration (it is gone from Keras 3), not a saving.",
    ]
    advice = [rule for rule in rules.values() if not rule.saves]
    mixed = [rule for rule in advice if any(e.differs and e.ratio < 1 for e in evidence.get(rule.name, ()))]
    for rule in advice:
        if rule not in mixed:
            parts += _advice(rule, evidence.get(rule.name, ()))
    if mixed:
        parts += [
            "# Advice that depends",
            "This saved at some size on the machine below, and cost more, or made no difference, at other sizes "
            "or on other machines. No rule suggests it unasked.",
        ]
    for rule in mixed:
        parts += _advice(rule, evidence[rule.name])
    return "\n\n".join(parts) + "\n"


def _advice(rule: Rule, evidence: Sequence[RuleEvidence]) -> list[str]:
    _, _, text = rule.page.partition("\n")
    return [f"## {rule.title}", text.strip(), evidence_table(evidence)]
