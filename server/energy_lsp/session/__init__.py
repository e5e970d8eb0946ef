"""What the server keeps for a client: open files, folders, settings, the worker."""
