"""Hooks as a turn runs them: their processes, their events, what is kept on record (X-7).

Which of them a moment concerns and what their answers come to is decided in the room `hooks`.
"""
