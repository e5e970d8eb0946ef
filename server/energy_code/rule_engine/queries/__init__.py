"""What rules ask of the code around a call: loops, shapes, tapes, tracing."""
