"""What one text has to say: findings with their impact, diagnostics, and the report that holds them."""
