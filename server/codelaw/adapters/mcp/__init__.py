"""Servers that people bring along, spoken to by the Model Context Protocol (X-3).

`servers` knows them all, `server` keeps one alive, `connection` speaks with it over what `transports` opens. What a
server says is bounded before anything is made of it (`bounds`, `program`), and `reading` says what becomes of it.
`pins` holds the files that a workspace's server is started from. Who may call what, and what the model sees of it, is
decided elsewhere.
"""
