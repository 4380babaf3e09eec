"""The composition root: the only place that names concrete adapters.

Nothing about messages of a protocol is known here: that is `lsp`.
"""
