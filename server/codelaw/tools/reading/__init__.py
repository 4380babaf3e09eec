"""Tools that only read: LS, Glob, Grep, Read (T-3, T-4).

How the disk is searched is in `adapters/workspace`.
"""
