"""Patterns of code that rules look for."""
