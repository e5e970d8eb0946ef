"""Commands that run programs and measure them."""
