"""The turn: how the model is asked, what it asks for, and what becomes of it.

What the model sees is decided in `context`; here things happen, one after the other.
"""
