"""The running turn: its steps, calls, approvals and end (R-1 to R-10).

What happens between turns is in `agent/chat`.
"""
