"""What the user has: folders with their settings and databases, files, and what the editor can do."""
