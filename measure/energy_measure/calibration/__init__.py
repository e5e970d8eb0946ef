"""Learns what this machine and this TensorFlow cost: points to run, the program that runs them, the fit."""
