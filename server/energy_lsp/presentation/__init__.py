"""From an analysis to what people read: costs, hints, diagnostics, units, words."""
