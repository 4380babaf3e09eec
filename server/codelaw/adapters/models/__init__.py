"""The models codelaw can talk to, and what is known about them by name.

How a request is composed is in `agent/dialects`; here it is sent, and the answer read.
"""
