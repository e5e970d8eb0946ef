"""What is said of calls, layers, rules and runs: the one wording that editor, terminal and pages share."""
