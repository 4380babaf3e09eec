"""The servers that people bring along, of one session: which there are and may start, and what they serve (X-3).

What speaks with them is in `adapters/mcp`, what their tools become in `tools/served`.
"""
