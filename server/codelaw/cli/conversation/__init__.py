"""`codelaw chat`: a turn or a conversation on the terminal.

Commands that ask one thing and end are in `cli/commands`.
"""
