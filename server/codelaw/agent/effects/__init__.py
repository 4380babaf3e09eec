"""What calls did to files: kept before it happens, found after a crash, undone (E-1, E-2).

Which tool does what is in `tools`.
"""
