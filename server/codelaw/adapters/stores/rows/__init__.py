"""Domain values as rows, in statements that both databases take, with their checksums (D-1 to D-4).

Connections and threads are in `adapters/stores/sqlite` and `adapters/stores/postgres`.
"""
