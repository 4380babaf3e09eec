"""The world outside: models, stores, the workspace."""
