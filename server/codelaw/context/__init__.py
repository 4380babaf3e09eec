"""What the model sees: pure functions from values to a View. No I/O, no clock, no randomness."""
