"""Where chats are kept.

What is stored, and when, is decided in `agent/recording`.
"""
