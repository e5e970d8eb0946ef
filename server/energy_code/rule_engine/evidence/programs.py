"""A rule's workload as a program of its own: `inputs(size, seed)`, `before(…)` and `after(…)`."""

from __future__ import annotations

import hashlib
import textwrap

from energy_code.rule_engine.dispatch import index_of
from energy_code.rule_engine.edits.apply import apply_edits
from energy_code.rule_engine.evidence.workload import SIZES, Array, Workload
from energy_code.rule_engine.rule import Rule
from energy_code.rule_engine.runner import find

HEADER = "import keras\nimport numpy as np\nimport tensorflow as tf\n"


class WorkloadError(Exception):
    """The rule does not rewrite its own workload."""


def program(rule: Rule) -> str:
    """Both sides and their inputs; the side after is written by the rule's own fix."""
    parts = [_inputs(rule.workload), side(rule.workload, "before", rule.workload.before), after(rule)]
    setup = textwrap.dedent(rule.workload.setup).strip("\n")
    return "\n\n".join([HEADER, *([setup] if setup else []), *parts])


def fingerprint(rule: Rule) -> str:
    """Tells a workload from what it was before: shipped evidence names the one it was measured on."""
    return hashlib.sha256(program(rule).encode()).hexdigest()[:12]


def after(rule: Rule) -> str:
    """Source of the function `after`."""
    workload = rule.workload
    if workload.after is not None:
        return side(workload, "after", workload.after)
    # only rules without a written replacement need the reader
    from energy_code.workspace.document import Document

    setup = textwrap.dedent(workload.setup).strip("\n")
    prefix = HEADER + (f"\n\n{setup}\n" if setup else "") + "\n\n"
    source = prefix + side(workload, "after", workload.before)
    rewritten = source
    for _ in range(3):  # a fix may uncover the same pattern one level further in
        findings = find(Document(rewritten).analyse(), index_of((rule,)))
        edits = [edit for finding in findings[:1] for edit in finding.edits()]
        if not edits:
            break
        rewritten = apply_edits(rewritten, edits)
    if rewritten == source:
        raise WorkloadError(f"rule {rule.name} does not rewrite its own workload: {workload.before!r}")
    return rewritten[len(prefix) :] if rewritten.startswith(prefix) else rewritten


def side(workload: Workload, name: str, code: str) -> str:
    """Source of a function with the workload's inputs as parameters."""
    body = textwrap.dedent(code).strip("\n")
    if "return " not in body:
        body = f"return {body}"
    return f"def {name}({_parameters(workload)}):\n{textwrap.indent(body, '    ')}\n"


def _parameters(workload: Workload) -> str:
    kinds = {
        name: value.annotation if isinstance(value, Array) else workload.annotations.get(name, "")
        for name, value in workload.inputs.items()
    }
    return ", ".join(f"{name}: {kind}" if kind else name for name, kind in kinds.items())


def _inputs(workload: Workload) -> str:
    table = {size: workload.sizes_at(size) for size in SIZES}
    letters = [f"    {letter} = sizes[{letter!r}]" for letter in workload.sizes]
    values = [
        f"        {value.expression if isinstance(value, Array) else value},"
        for value in workload.inputs.values()
    ]
    return "\n".join(
        [
            "def inputs(size, seed=0):",
            "    rng = np.random.default_rng(seed)",
            f"    sizes = {table!r}[size]",
            *letters,
            "    return (",
            *values,
            "    )\n",
        ]
    )
