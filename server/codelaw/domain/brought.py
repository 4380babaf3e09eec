"""What people bring along as Markdown files (X-7)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sheet:
    """A Markdown file that may be a command, not read yet."""

    name: str
    """What it is called by: its path in the folder where such files are looked for, `:` between the parts."""
    shown: str
    """Its path as people know it."""
    uri: str
    own: bool
    """It lies in a folder of the user's, and not in the workspace."""


@dataclass(frozen=True, slots=True)
class UserCommand:
    """A command of the user's (X-7)."""

    sheet: Sheet
    description: str
    """One line; empty where the file has no words."""
    arguments: str
    """What is to be typed behind the name, as the file puts it; may be empty."""
    body: str
    problem: str = ""
    """What is wrong with the file, in one sentence."""
