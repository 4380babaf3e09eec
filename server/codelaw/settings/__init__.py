"""Typed configuration: its layers, and where each value came from.

What a setting does is decided where it is used.
"""
