"""What a sandboxed command may touch, drawn from a look at the disk (S-4, S-8).

How it is enforced is in `adapters/processes/sandboxes`.
"""
