"""What the server offers, one module for each feature; `register` in each tells the server about it."""
