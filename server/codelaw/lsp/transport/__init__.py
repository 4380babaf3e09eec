"""Bytes to messages and back: framing, JSON-RPC, errors, large results (V-2, V-3, S-6).

Nothing here knows what a message is about.
"""
