"""The shell: JSON-RPC and the language server protocol; wire ↔ domain.

Nothing is imported here, so that `initialize` is answered before anything heavy is loaded (V-1).
"""
