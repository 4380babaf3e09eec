"""What a person chooses for a chat: where its text goes, and how much the model does for an answer.

Which model answers, and what is known of it, is not here but in `app/models`.
"""
