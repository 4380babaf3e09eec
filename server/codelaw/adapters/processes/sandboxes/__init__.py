"""The sandboxes a machine may have, found out by trying: bubblewrap with seccomp, landlock, seatbelt (S-4).

What a command may touch is drawn in `adapters/processes/rules`.
"""
