"""Samplers: processes that read the meters while a program runs, and what they write."""
