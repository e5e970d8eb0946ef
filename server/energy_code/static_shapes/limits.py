"""Every limit of reading shapes, with its reason. Beyond a limit a shape is unknown; nothing is an error.

Shapes are found by following one run of the program in the mind: without limits that would take as long as the program.
"""

from __future__ import annotations

STEPS = 60_000
"""Expressions and statements that are looked at: a program must not keep its reader."""
MOST_TURNS = 40
"""A loop of more turns is not gone through turn by turn: each would cost as much as its whole body."""
MAX_CALL_DEPTH = 24
"""Calls of the program's own functions within each other. Python's stack has to hold them."""
MOST_MODULES = 60
"""Files of the project that are followed: a program that imports a whole library would have all of it read."""
MOST_SHAPES = 4
"""A call that is given more different shapes has none: it is a helper, and no one of them speaks for it."""
LONGEST_LIST = 1000
"""Elements of a list or a text that are kept one by one: longer ones are data, not the structure of a model."""
