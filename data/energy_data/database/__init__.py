"""The energy database: schema, reading, writing, pruning."""
