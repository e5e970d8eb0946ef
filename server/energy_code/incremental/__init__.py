"""The interpreter's memory: results are kept until something that they looked at changes."""
