"""What the view shows of finished turns: strategies, spans, the rolling summary, the projection (B-1 to B-4, H-1).

When something of it is shortened is decided in `context/shortening`.
"""
