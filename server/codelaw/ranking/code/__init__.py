"""Which places in code answer a question: symbols, chunks, fields and scores, as pure functions (X-5).

Texts come in and values go out; where files lie and how they are kept is for `adapters/code`.
"""
