"""What runs inside the measured program: the standard library alone, Python 3.8 to 3.13."""
