"""Tools that change files, and what they share: matching, differences, merges, snapshots (T-5, E-2, E-6).

How a file is written is in `adapters/workspace`.
"""
