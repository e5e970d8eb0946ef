"""What a rule is."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from energy_code.model import Mode
from energy_code.rule_engine.context import Match, RuleContext
from energy_code.rule_engine.evidence.workload import Workload

Safety = Literal["safe", "review", "none"]
"""`safe`: both sides are equal; `review`: a fix whose condition a person must check; `none`: no fix."""

Category = Literal["memory", "arithmetic", "dispatch", "pipeline", "keras", "image"]
CATEGORIES: Mapping[Category, str] = {
    "memory": "Redundant passes over memory",
    "arithmetic": "Needless arithmetic",
    "dispatch": "Python dispatch and retracing",
    "pipeline": "`tf.data` pipelines",
    "keras": "Keras training and inference",
    "image": "Images",
}

EAGER: frozenset[Mode] = frozenset({"eager"})
NOT_JIT: frozenset[Mode] = frozenset({"eager", "graph"})
EVERYWHERE: frozenset[Mode] = frozenset({"eager", "graph", "jit"})

PAGES = "https://github.com/energy-lsp/energy-lsp/blob/main/docs/rules"


class Change(NamedTuple):
    """A pattern and what to write instead: `$name` is any expression, `$name?` an optional argument."""

    before: str
    after: str | None = None
    """`$callee` stands for the name of the outermost call as the file writes it."""


class Rule:
    """A substitution that saves energy. Its file name is its name, its docstring its documentation page.

    The docstring's first line is the title; the rest says why it saves and when the two sides are equal.
    """

    message: str
    """One sentence for the editor: what to write instead."""
    category: Category
    examples: Sequence[tuple[str, str]] = ()
    """Code before, code after."""
    reports: Sequence[str] = ()
    """Code that is reported without a fix."""
    leave_alone: Sequence[str] = ()
    """Code that must not be reported."""
    workload: Workload
    safety: Safety = "safe"
    modes: frozenset[Mode] = EVERYWHERE
    under_tape: bool = True
    """False: silent inside `with tf.GradientTape()`."""
    saves: bool = True
    """False: popular advice that was measured and does not save; documented, never reported."""
    changes: Sequence[Change] = ()
    whole_function: bool = False
    """True: what it changes is all that the function around the place does, and its energy is that of all its calls."""
    tracing_stays: bool = False
    """True: it saves in steps alone; what a call costs once, for tracing, stays."""
    around_model: bool = False
    """True: it saves what surrounds the layers of a model, such as dispatch; what these take stays."""
    apis: Sequence[str] = ()
    """APIs whose calls `look` wants to see."""
    in_loop: bool = False
    """True: of those, only the ones that a loop or comprehension repeats."""
    keyword: str | None = None
    """Of those, only the ones that are given this keyword."""
    follows: str | None = None
    """Of those, only the methods of what a call of this API gives (`ds.map(f).batch(9)`)."""
    in_a_row: bool = False
    """True: of those, only the ones with another of the same API as the call before or behind."""
    signatures: Sequence[tuple[str, str]] = ()
    """Parameters of APIs that `energy_code.rule_engine.patterns.signatures` does not list."""

    def __init__(self) -> None:
        package, _, module = type(self).__module__.rpartition(".")
        kind = "advice_" if package.endswith(".advice") else ""
        self.name = f"{kind}{module}".replace("_", "-")

    def where(self, place: RuleContext) -> bool:
        """A condition beyond the pattern; `place[name]` gives the captured parts."""
        return True

    def proven(self, place: RuleContext) -> bool:
        """Whether a fix for review is proven safe at this very place."""
        return False

    def look(self, place: RuleContext) -> Iterator[Match]:
        """Find what patterns cannot say; called for each call of `apis`."""
        return iter(())

    @property
    def page(self) -> str:
        """The documentation: the docstring without its indentation."""
        first, _, rest = (type(self).__doc__ or "").partition("\n")
        return f"{first.strip()}\n{textwrap.dedent(rest).rstrip()}"

    @property
    def title(self) -> str:
        """First line of the documentation, without its full stop."""
        return self.page.partition("\n")[0].rstrip(".")

    @property
    def advice(self) -> str:
        """The title in the middle of a sentence."""
        return self.title[:1].lower() + self.title[1:]

    @property
    def url(self) -> str:
        """The rule's page."""
        return f"{PAGES}/{self.name}.md"

    @property
    def has_fix(self) -> bool:
        """Whether the rule can rewrite what it finds."""
        return self.saves and self.safety != "none"
