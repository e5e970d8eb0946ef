"""What TensorFlow and Keras do beyond returning what the catalogue says."""
