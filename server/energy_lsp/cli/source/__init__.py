"""Commands that read source and show what is known of it; none of them runs a program."""
