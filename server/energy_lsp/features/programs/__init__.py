"""What runs the user's programs, on request, and what is known of their runs."""
