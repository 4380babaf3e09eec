"""What opens every request: L1 modules, the law, and the pinned instruction (L-2 to L-4, L-7, S-7).

What was said is in `context/past`.
"""
