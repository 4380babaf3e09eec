"""What turns texts into vectors: without a model, with one in a folder, or at an endpoint (B-5)."""
