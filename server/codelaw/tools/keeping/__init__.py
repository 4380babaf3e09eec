"""Tools that keep something: the todo list and memories (T-7, T-8).

Where memories are stored is in `adapters/stores`.
"""
