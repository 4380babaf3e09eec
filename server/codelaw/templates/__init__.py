"""Prompt rendering.

The words themselves lie in `prompts/`.
"""
