"""`python -m energy_lsp` is the same as `energy-lsp`."""

from energy_lsp.cli import main

main()
