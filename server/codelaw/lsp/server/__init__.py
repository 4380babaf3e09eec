"""One client's server: its life from `initialize` to `exit`, transports, settings and folders (V-1 to V-4).

What a method does is written in `lsp/methods`.
"""
