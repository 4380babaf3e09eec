"""A language server with a coding agent inside."""

__version__ = "0.1.0"
