"""Files, notebooks and projects: what is open, what imports what."""
