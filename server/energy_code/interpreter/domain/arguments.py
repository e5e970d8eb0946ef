"""The evaluated arguments of a call."""

from __future__ import annotations

from energy_code.interpreter.domain.values import UNKNOWN, Value


class Arguments:
    """Evaluated arguments. `complete` is False when an unpacked argument hides some."""

    __slots__ = ("complete", "keywords", "positional", "unpacked")

    def __init__(self, positional: list[Value], keywords: dict[str, Value], complete: bool) -> None:
        self.positional: list[Value] = positional
        self.keywords = keywords
        self.complete = complete
        self.unpacked: Value = UNKNOWN
        """What an unpacked argument was whose items are not known one by one."""

    def get(self, position: int, keyword: str) -> Value | None:
        """An argument by its place or its name."""
        if position < len(self.positional):
            return self.positional[position]
        return self.keywords.get(keyword)

    def all(self) -> list[Value]:
        """Every argument."""
        return [*self.positional, *self.keywords.values()]


NO_ARGUMENTS = Arguments([], {}, True)
