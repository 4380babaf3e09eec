"""Whether what a server needs works on this machine; `codelaw doctor` asks.

What a server can say of itself is asked over the wire, in `cli/commands/doctor`.
"""
