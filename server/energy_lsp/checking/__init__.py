"""`energy-lsp check`: the hints of the editor in a terminal and in CI."""
