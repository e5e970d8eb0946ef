"""The protocol's streams and messages."""
