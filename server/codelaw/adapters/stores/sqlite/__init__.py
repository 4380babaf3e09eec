"""SQLite: connections, the write-ahead log, files that cannot be written, liveness of servers (D-1, D-4).

Rows are the same for both databases and are in `adapters/stores/rows`.
"""
