"""What is known: the energy database, published figures and the TensorFlow API catalogue."""
