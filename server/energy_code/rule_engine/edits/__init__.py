"""Writing a fix: names, arguments, expressions, and applying it to a text."""
