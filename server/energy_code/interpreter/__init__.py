"""The abstract interpreter: values, frames, and what calling, reading and iterating give."""
