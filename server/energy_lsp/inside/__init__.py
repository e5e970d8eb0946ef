"""What is inside of measured calls, as people ask for it: grouped, ranked, compared, with how sure it is."""
