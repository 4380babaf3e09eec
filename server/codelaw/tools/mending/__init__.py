"""Edits that miss: read as what was meant where exactly one place fits, else answered with the nearest text (T-5).

Pure: texts go in, a place or a reason comes out. A line ends with a bare line feed throughout.
"""
