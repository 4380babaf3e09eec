"""The vocabulary: frozen values that every floor above speaks in.

Standard library only; nothing here does I/O. See docs/rules.md for the rule ids that docstrings name.
"""
