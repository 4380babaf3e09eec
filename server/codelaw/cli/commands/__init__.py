"""Commands of the terminal that ask their server one thing, or none.

What a conversation needs is in `cli/conversation`.
"""
