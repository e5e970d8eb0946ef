"""What the reader asks of Python itself: room on the stack, and a collector that keeps out of the way."""
