"""Every public TensorFlow and Keras name, and the ways to write it."""
