"""Commands that show, keep and pass on what was measured."""
