"""Predictions of whole programs: which calibration, which calls, in which words."""
