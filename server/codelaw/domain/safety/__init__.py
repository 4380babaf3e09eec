"""Values and pure functions of safety: globs of rules, hosts, files that others obey, tags, unseen characters, keys.

Rules themselves are in `permissions`.
"""
