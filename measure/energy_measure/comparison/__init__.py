"""Two sides against each other: callables, programs, both sides of a rule."""
