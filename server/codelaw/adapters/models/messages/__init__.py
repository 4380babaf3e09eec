"""The Messages API, of the vendor or of whoever speaks it.

What every wire has in common is in the folder above: `wire`, `replies`, `sdk`, `failures`.
"""
