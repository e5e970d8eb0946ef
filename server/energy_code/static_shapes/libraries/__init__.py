"""What Python's own functions, NumPy, tf.data and the libraries around TensorFlow hand out."""
