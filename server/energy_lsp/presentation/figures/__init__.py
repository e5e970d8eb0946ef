"""What is known of each call of a text: which measured call it is, its figure and hint, its layers, the sum of a run."""
