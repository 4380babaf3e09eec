"""What turns texts into vectors: without a model, with one in a folder, or at an endpoint (B-5).

Which texts are embedded, and when, is decided in `agent/recall`.
"""
