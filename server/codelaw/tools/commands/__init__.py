"""Bash, and what is said of the sandbox round it (T-6, S-4).

How a process runs is in `adapters/processes`.
"""
