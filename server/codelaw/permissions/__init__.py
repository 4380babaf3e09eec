"""Who may do what: rules, the reading of command lines, and the judgement (S-1). Pure.

How a decision is enforced is in `adapters/processes`; how a person is asked, in `agent/turn`.
"""
