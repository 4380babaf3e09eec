"""Exit statuses of the terminal commands."""

FINISHED, FAILED, USAGE, CANCELLED = 0, 1, 2, 130
