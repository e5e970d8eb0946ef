"""From an analysis to what people read: `pipeline` runs the stages, each folder is one layer of them."""
