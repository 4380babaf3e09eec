"""The turn: how the model is asked, what it asks for, and what becomes of it."""
