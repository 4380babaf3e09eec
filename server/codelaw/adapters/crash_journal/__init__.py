"""What a server that is killed leaves behind: how the next one knows of it, and cleans up.

What is damaged inside a store is the business of `adapters/stores`.
"""
