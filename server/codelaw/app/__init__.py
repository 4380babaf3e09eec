"""The composition root: here the engine gets its concrete adapters.

Nothing about messages of a protocol is known here: that is `lsp`.
"""
