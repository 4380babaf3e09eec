"""Commands on this machine, and the sandbox they run in (T-6, S-4)."""
