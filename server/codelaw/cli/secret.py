"""Where the token of a listening server comes from (V-3, S-5)."""

from __future__ import annotations

import sys
from pathlib import Path

from codelaw.settings.places import process_environment

VARIABLE = "CODELAW_TOKEN"
LONGEST = 1_000
"""Characters of a token; a handshake has to hold it."""
SHORTEST = 16
"""Characters below which a token could be guessed."""


def chosen_token(argument: str | None, file: str | None) -> str | None:
    """The token of `--token`, `--token-file` or the environment, in this order; None when one is to be made.

    Raises:
        ValueError: it is none; the message holds nothing of it.
    """
    if argument is not None:
        _warn("--token can be seen by every user of this machine: use --token-file, or the variable CODELAW_TOKEN")
        return _checked(argument, "--token")
    if file is not None:
        try:
            with Path(file).open(encoding="utf-8") as lines:
                return _checked(lines.readline(LONGEST + 2).strip(), f"the first line of {file}")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not text"
            message = f"--token-file: {file} cannot be read: {reason}"
            raise ValueError(message) from None
    given = process_environment().get(VARIABLE, "").strip()
    return _checked(given, VARIABLE) if given else None


def _checked(token: str, source: str) -> str:
    if not token or len(token) > LONGEST or not token.isascii() or not token.isprintable() or " " in token:
        message = f"{source} is not a token: it must have 1 to {LONGEST} printable ASCII characters and no blank"
        raise ValueError(message)
    if len(token) < SHORTEST:
        _warn(f"{source} has fewer than {SHORTEST} characters: it can be guessed")
    return token


def _warn(message: str) -> None:
    sys.stderr.write(f"codelaw: warning: {message}\n")
    sys.stderr.flush()
