"""Exit statuses of the terminal commands."""

from __future__ import annotations

FINISHED, FAILED, USAGE, CANCELLED = 0, 1, 2, 130
