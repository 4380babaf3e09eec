"""Answers to methods, one module for each group: wire types in, a call of the session, wire types out.

No decision of the engine is made here.
"""
