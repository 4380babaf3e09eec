"""A language server with a coding agent inside.

What each room is for stands in its own first lines; imports between them only point down.
"""

__version__ = "0.1.0"
