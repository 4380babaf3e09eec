"""The wire: what clients send and get, typed once. docs/protocol.md is its page for client authors.

Nothing is imported here, so that `codelaw.protocol.names` stays free of pydantic.
"""
