"""codelaw in any editor: chat files, code actions, lenses and documents, made of what LSP itself has (E-3, E-4).

Methods of our own are answered in `lsp/methods`.
"""
