"""The transcript: append-only record, and the pure passes over its view."""
