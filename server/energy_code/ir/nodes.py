"""The two kinds of nodes that the lowered program is made of: expressions are evaluated, statements executed.

A node works on a frame, and a frame holds codes, which are made of nodes. So the frame is left open here; every node that
does something with it names `Frame`.
"""

from __future__ import annotations

from typing import Any

from energy_code.interpreter.domain.values import UNKNOWN, Value


class Expression:
    """Base of all expressions; one that the reader does not follow is unknown."""

    __slots__ = ("end", "start")

    start: int
    end: int

    def evaluate(self, frame: Any) -> Value:
        """What the expression may be, where it stands in the flow of `frame`."""
        return UNKNOWN


class Statement:
    """Base of all statements; one without effect on what is known."""

    __slots__ = ()

    def execute(self, frame: Any) -> bool:
        """Run it; True when the flow goes on."""
        return True
