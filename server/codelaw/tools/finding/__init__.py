"""Tools that are found before they are called, because there are too many to describe (X-11).

Whether there are is decided in `app/plans`; how they are ranked stands in `ranking/catalogue`.
"""
