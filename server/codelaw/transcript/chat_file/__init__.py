"""A chat as Markdown: the format of chat files and transcripts, written, read and kept in step (E-3, E-4).

Pure. Which file belongs to which chat is known to `lsp/features`.
"""
