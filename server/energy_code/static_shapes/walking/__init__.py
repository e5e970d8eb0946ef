"""Goes through statements and expressions of a program, without running it."""
