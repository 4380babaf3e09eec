"""What a turn is made of, gathered once at its edge: files, law, editor, settings, selection (L-3, M-1 to M-6).

How it is laid out for the model is in `context`.
"""
