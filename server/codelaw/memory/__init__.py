"""Long-term memory: what is remembered, what is refused, what is shown.

How memories are stored and searched is in `adapters/stores`.
"""
