"""What a value may be: the domain of the abstract interpreter, its order, and how annotations and arguments are values."""
