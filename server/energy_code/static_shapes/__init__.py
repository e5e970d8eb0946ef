"""What shapes the source of a whole file tells: a plain walk through its statements, for predictions of programs."""
