"""Rows that leave this machine or come from another: what is shared, what is refused, and how it moves."""
