"""Finding what was said: words, passages, dates and scores, as pure functions (B-4, B-5).

What is done with what was found is decided in `context` and `agent/recall`.
"""
