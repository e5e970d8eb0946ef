"""How a number, a unit, a text or a small picture is written, whatever it is about."""
