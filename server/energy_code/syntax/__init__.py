"""The syntax tree of a text that is being edited, by tree-sitter, and what is done where the text is broken."""
