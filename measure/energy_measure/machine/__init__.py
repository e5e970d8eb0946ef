"""The machine: what it is, whether it is at rest, what can be measured on it."""
