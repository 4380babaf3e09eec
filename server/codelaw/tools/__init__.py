"""What can be done: one file per tool, named as the model names it (T-1 to T-11).

A tool touches the world only through its `ToolEnvironment`.
"""
