"""Finding what was said: words, passages, dates and scores, as pure functions (B-4, B-5)."""
