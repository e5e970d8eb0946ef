"""What operations on arrays give, by their shapes alone."""
