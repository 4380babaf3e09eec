"""`python -m codelaw`."""

from __future__ import annotations

from codelaw.cli.main import entry

if __name__ == "__main__":
    entry()
