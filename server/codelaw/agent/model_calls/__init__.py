"""The line to the model around a call: keys kept off it, and what follows a failure (P-1, S-5).

The vendor's protocol is in `adapters/models`.
"""
