"""Tools that servers bring along, as tools of ours: names, schemas and calls (X-3).

All that a server says is foreign text: it is bounded and made harmless here, before a model is told of it.
"""
