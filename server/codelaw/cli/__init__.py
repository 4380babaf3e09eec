"""The commands of the terminal.

They are clients of a server like any editor, and have no way of their own into the engine.
"""
