"""What the server asks of the client: approvals, edits, messages, progress, its language servers (S-2, F-4, V-5, E-6).

What the client asks of the server is in `lsp/methods`.
"""
