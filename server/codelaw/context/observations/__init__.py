"""What a model is shown of a result: a header line and a body in plain text (C-7, R-5).

How a result is shortened is in `context/shortening`.
"""
