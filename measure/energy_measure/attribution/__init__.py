"""From power traces and events to joules per call, with their uncertainty."""
