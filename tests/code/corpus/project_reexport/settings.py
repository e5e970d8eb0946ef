SHAPE = (3, 5)
