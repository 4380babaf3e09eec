"""PostgreSQL: connections, places, schema, liveness of servers, search of memories (D-3, D-4).

Rows are the same for both databases and are in `adapters/stores/rows`.
"""
