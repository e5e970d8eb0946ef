"""What the command line prints: consoles, progress, tables."""
