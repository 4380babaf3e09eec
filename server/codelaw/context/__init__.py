"""What the model sees: pure functions from values to a View. No I/O, no clock, no randomness.

What is gathered for it, and what is done about it, is in `agent`.
"""
