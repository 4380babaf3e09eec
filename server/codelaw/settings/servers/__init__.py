"""Servers that people bring along, as they are written down in settings and in a workspace's files (X-3).

From texts to values: which servers there are, what each is started with, and which the user has let start. What runs
them is in `adapters`.
"""
