"""Every limit of the reader, with its reason. Beyond a limit something is taken as unknown; nothing is an error.

Without limits abstract interpretation need not end: a recursive function makes ever new arguments, a list that holds
itself ever deeper values. Each limit is as high as real programs need and low enough for a file to be read while it is
typed; programs that reach one lose precision there and nowhere else.
"""

from __future__ import annotations

# Contexts: in how many ways a function is evaluated ------------------------------------------------------------

MAX_CONTEXTS = 6
"""Different arguments that a function is evaluated with; further calls share one general evaluation, which knows the
receiver of a method only. A helper that builds layers is called in a handful of ways; one called in hundreds, as `log` is,
would be evaluated hundreds of times for nothing."""
MAX_RECURSIONS = 2
"""Levels of a recursive function that are evaluated by their own arguments: with ever new arguments each level would run
its loops again for every level below."""
MAX_INSTANCES = 4
"""Objects of one class for which a method that nobody calls is evaluated."""
MAX_IMPORTERS = 12
"""Files that use a module which are asked how they call it: one that all import would drag in the whole project."""
MAX_ARGUMENT_NESTING = 3
"""How deep containers may stand in containers in an argument: contexts are compared by it."""

# Depth: how far down something is followed ----------------------------------------------------------------------

MAX_CALL_DEPTH = 30
"""Calls of the program's own functions inside each other. Python's stack has to hold their evaluations."""
MAX_QUESTION_DEPTH = 50
"""Kept evaluations whose questions are asked again, each because of the one before. Beyond it what was found is kept,
and after an edit the module is evaluated from its top."""
MAX_DECORATORS = 20
"""Decorators around a function that are looked through for it."""
MAX_EXPRESSION_DEPTH = 120
"""Expressions nested in each other, in a statement that Python's stack did not hold at first."""
MAX_BLOCK_DEPTH = 100
"""Twice the number of blocks nested in each other: Python itself refuses more than 100 levels of indentation."""
MAX_BROKEN_DEPTH = 60
"""Syntax errors inside syntax errors that are still looked into."""
MAX_PATTERN_DEPTH = 20
"""Patterns of a `case` nested in each other."""
MAX_ANCESTORS = 200
"""Classes that one inherits from which are looked at: with each class of a long chain looking at all before it, the time to
read them would grow with the square of their number."""
MAX_BRANCHES = 50
"""Branches of one `if` that exclude each other, each one's test standing in the `else` of the one before: Python's stack has
to hold them. Those of a longer chain are read as if another `if` began there."""
MAX_GENERATIONS = 3
"""Classes made by calls of `type`, each from the one before."""

# Width: how much of one value is known --------------------------------------------------------------------------

MAX_OPTIONS = 8
"""Alternatives of one value; with more of them it is unknown. A call through a table of layers has some five."""
MAX_ITEMS = 64
"""Items of a display that are known one by one; of longer ones, what any of them may be."""
MAX_VALUES = 500
"""Values that a container is made of, those in its items included: of a larger one it is known what it is, and of its items
those that are no containers. Without it `a = (a, a)` would double the time that it takes to look at `a`."""
MAX_REPEATS = 8
"""Items of a list that a comprehension makes which are known one by one: `[Dense(8) for _ in range(3)]`."""
MAX_VARIANTS = 8
"""Items of a list of functions or classes for which a loop's body is read one by one: `for layer in (Dense, Conv2D)`."""

# Rounds: how often something is done again until it agrees with itself -------------------------------------------

MAX_EFFORT = 8
"""How often one evaluation is verified or made again for one state of the program. Answers of recursive functions depend
on each other: without a limit they could be asked for ever."""
MAX_ROUNDS = 2
"""How often a module is evaluated again because its end says what its beginning works with."""

STATEMENTS_AT_ONCE = 64
"""Statements of a long body that run before somebody asks whether there is time left (`process.budget`)."""

# Memory: what is kept that nobody asks for ------------------------------------------------------------------------

SPARE_EVALUATIONS = 64
"""Evaluations that nobody used lately and that are kept all the same, for when an edit is taken back."""
PASSES_KEPT = 4
"""An evaluation counts as used lately if one of the last passes asked for it."""
