"""The way to listed hosts, and to no others, for commands without a network of their own (S-4).

Which hosts are listed is read in `domain/safety`.
"""
