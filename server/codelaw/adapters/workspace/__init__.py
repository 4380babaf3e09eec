"""The workspace on disk, seen through the editor's open buffers.

What a tool makes of a file is in `tools`.
"""
