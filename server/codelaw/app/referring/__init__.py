"""Mentions with a prefix and a colon: symbols, problems, what git says, a terminal (M-8).

Places are named and not shown; everything else is a bounded fragment of foreign text. Resources of servers are not
here but in `app/servers`.
"""
