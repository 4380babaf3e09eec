"""What a chat keeps and tells: its history, its events on their way out, decisions on record.

How rows are stored is in `adapters/stores`.
"""
