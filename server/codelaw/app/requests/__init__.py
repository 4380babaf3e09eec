"""What a session answers, one module for each resource.

What they share is `app/core`; what happens in a turn is in `agent`.
"""
