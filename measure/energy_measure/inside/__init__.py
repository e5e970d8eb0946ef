"""What a call's energy went into: layers, passes, operations, each at the line where the layer was written.

`injected/inside/` notes it within the program; here it is read (`recorded.py`), each operation gets its layer
(`origins.py`), the energy of a call is split among what ran in it (`splitting.py`), and parts of all runs become one
account (`parts.py`).
"""
