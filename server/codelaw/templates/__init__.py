"""Prompt rendering."""
