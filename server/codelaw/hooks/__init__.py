"""What hooks are about and what their answers come to (X-7).

Pure: values in, a value out. They are run in `agent/hooks`; what they may allow is decided in `agent/turn`.
"""
