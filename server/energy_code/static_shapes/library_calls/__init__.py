"""Calls of libraries: what they give, and what there is to predict about them."""
