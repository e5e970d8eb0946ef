"""The measured program before it runs: what to run, by which interpreter, with probes at which calls."""
