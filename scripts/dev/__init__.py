"""What `dev.py` does for a checkout: its environment, its checks, its package. The standard library is enough."""
