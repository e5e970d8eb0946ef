"""What libraries do, as far as the source of a program cannot say: Python's own, and TensorFlow's."""
