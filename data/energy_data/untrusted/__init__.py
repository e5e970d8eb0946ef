"""What comes from others: files to open, places to write to, text to print. One module for each."""
