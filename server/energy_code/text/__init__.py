"""Bytes and lines: what a file or an editor holds, and where things stand in it."""
