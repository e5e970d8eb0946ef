"""Popular advice that does not save: written, measured and kept like rules, and never suggested."""
