"""The protocol's bytes and messages: reading, writing, and the answer to `initialize`."""
