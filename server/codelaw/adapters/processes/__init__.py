"""Commands on this machine, and the sandbox they run in (T-6, S-4).

Whether a command may run is decided in `permissions`, before anything here is asked.
"""
