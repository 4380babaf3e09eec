"""A chat between its turns: loaded, claimed, followed by a next turn, closed after a crash (R-1, R-9, D-1).

What happens within a turn is in `agent/turn`.
"""
