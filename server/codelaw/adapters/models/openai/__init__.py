"""The wires of OpenAI, of the vendor or of whoever speaks them.

What every wire has in common is in the folder above: `wire`, `replies`, `sdk`, `spelling`, `failures`.
"""
