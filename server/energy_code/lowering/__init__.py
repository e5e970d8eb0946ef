"""From the syntax tree to the lowered program."""
