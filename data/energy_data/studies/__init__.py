"""Importers of published raw records."""
