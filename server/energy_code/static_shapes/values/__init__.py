"""What the source tells of a value, and what the user wrote about it."""
