"""Changes of a program tried on copies of it: what saves here, proven, with its results unchanged."""
