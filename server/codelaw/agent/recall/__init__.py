"""What is remembered or was said earlier: embedded, searched, brought to a turn (B-4 to B-8).

How texts are ranked is in `ranking`; what a memory is, in `memory`.
"""
