"""A yes or no from a person who has seen what it is about."""

from __future__ import annotations

import sys
import termios

from codelaw.cli.terminal import BOLD, RED, Screen


def agreed(screen: Screen, question: str) -> bool:
    """Whether the person at the terminal says yes; where nobody can be asked, that is told."""
    if not (sys.stdin and sys.stdin.isatty()):
        screen.line("Nobody can be asked here: look at the values, then say --yes.", style=RED)
        return False
    termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)  # what was typed before the values were seen is no answer
    screen.stream(f"{question} [y/N] ", aside=True, style=BOLD)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}
