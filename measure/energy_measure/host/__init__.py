"""One measurement at a time on a host, and none that outlives who asked for it."""
