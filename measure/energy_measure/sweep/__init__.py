"""Energy against size: a program measured over a range of sizes, and what curve its calls follow."""
