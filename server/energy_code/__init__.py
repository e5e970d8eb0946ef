"""What the code says: every TensorFlow and Keras call in a file, notebook or project, and the substitution rules."""
