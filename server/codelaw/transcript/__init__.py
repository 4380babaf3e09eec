"""The transcript: append-only record, and the pure passes over its view.

What of it a model is shown is decided in `context`.
"""
