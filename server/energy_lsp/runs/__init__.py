"""What measured runs say together: the history of a program and of a call, and what differs between two runs."""
