"""Histories that any vendor takes, whatever the record holds: passes over messages (H-1, H-2).

Pure. What is shown of a healthy history is decided in `context`.
"""
