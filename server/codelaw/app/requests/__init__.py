"""What a session answers, one module for each resource.

`app/session` puts them together; what happens in a turn is in `agent`.
"""
