"""Child turns: the work that `Task` hands on, run by the engine of every turn, and its report (X-4).

Which kinds there are and what they are given is decided in `agent/inputs/subagents`.
"""
