"""Open documents and places in them, and domain values as wire types (F-1).

Files on the disk are read by `adapters/workspace`.
"""
