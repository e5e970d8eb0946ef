"""What the operations of the language give: calling, looking into, iterating, importing; and what they leave behind."""
