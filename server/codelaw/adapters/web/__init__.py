"""Pages of the web, fetched for the model (T-8).

Which addresses a name may lead to is judged in `adapters/processes/network`, as for commands.
"""
