"""Keras: layers, models made of a list, of a graph or of a class, and what their methods are given."""
