"""The world outside: models, stores, the workspace.

No rule of the engine lives here: adapters do what a port asks, and say what went wrong.
"""
