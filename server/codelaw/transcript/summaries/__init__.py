"""Summaries of archived rounds: facts, the index of identifiers, the document, and the check of what a model wrote (K).

Pure. When a compaction comes and what it archives is decided in `agent/compaction`.
"""
