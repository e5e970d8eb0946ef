"""What people see: the language server and the command line."""
