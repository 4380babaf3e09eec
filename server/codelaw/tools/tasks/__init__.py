"""Work that is handed to another agent (X-4).

The tool alone; the child turn that does the work is run by `agent/subagents`.
"""
