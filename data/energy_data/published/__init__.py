"""Figures of published studies, and how they are made from their records."""
