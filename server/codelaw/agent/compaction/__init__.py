"""Compactions: when one is due, what it archives, its summary, the rolling summary (W-2, K, B-3).

What a summary looks like is in `transcript/summaries`.
"""
