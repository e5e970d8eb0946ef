"""What the reader says of one file at one moment, and what an edit leaves of it."""
