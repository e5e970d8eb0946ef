"""The energy database: schema, reading, writing, merging, pruning."""
