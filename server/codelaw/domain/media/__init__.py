"""Values for what is not text: pictures, by their bytes.

No I/O, and no pixel is looked at.
"""
