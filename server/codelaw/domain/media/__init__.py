"""Values for what is no text: pictures, by their bytes.

No I/O, and no pixel is looked at.
"""
