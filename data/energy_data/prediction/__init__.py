"""What a call will cost on this machine before it ever ran: features of its shapes times calibrated coefficients.

Pure Python on purpose: the language server predicts on a keystroke, and must not wait for NumPy.
"""
