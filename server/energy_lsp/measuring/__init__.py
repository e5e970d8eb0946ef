"""What `energy-lsp measure` shows while it runs and at the end."""
