"""The models codelaw can talk to, and what is known about them by name.

`wire`, `replies`, `sdk` and `failures` are what every wire over HTTP has in common; each wire has a folder. How a
request is composed is in `agent/dialects`; here it is sent, and the answer read.
"""
