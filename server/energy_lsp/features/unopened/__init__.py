"""What is known of files that are not open."""
