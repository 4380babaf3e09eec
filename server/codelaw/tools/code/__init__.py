"""Tools that ask the editor's language servers (E-6).

Changes which they propose are made in `tools/changing`.
"""
