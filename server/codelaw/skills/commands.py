"""Commands of the user's: Markdown files that a message calls with `/name` (X-7)."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

from codelaw.domain.extensions import Sheet, UserCommand
from codelaw.skills.front_matter import effort_of, written

PLACES = ((".codelaw/commands", ".md"), (".claude/commands", ".md"), (".github/prompts", ".prompt.md"))
"""Where a workspace folder has them, and how their names end; of two with one name the first counts."""
LONGEST_COMMAND = 100_000
"""Characters of a file (S-6)."""
_DESCRIPTION = 200
_CALL = re.compile(r"/([^\s/]{1,100})(?:\s+(.*))?", re.DOTALL)
_PLACEHOLDER = re.compile(r"\$(?:(ARGUMENTS)\b|([1-9])(?![0-9]))")


@dataclass(frozen=True, slots=True)
class CommandCall:
    """A message that may call a command."""

    name: str
    arguments: str


def call(text: str) -> CommandCall | None:
    """What a message calls, if it begins as one that does; a space in front keeps it from that."""
    match = _CALL.fullmatch(text)
    return None if match is None else CommandCall(match[1], (match[2] or "").strip())


def name_of(path: str, ending: str) -> str:
    """What a file is called by, from its path below the folder; empty where it is none."""
    if not path.endswith(ending):
        return ""
    name = path.removesuffix(ending).replace("/", ":")
    return "" if any(character.isspace() for character in name) or name.startswith((".", ":")) else name


def command(sheet: Sheet, text: str) -> UserCommand:
    """Read a command's file."""
    found = written(text[:LONGEST_COMMAND])
    problem = found.problem
    if len(text) > LONGEST_COMMAND:
        problem = f"It has {len(text)} characters; the first {LONGEST_COMMAND} count."
    first = next((line.strip().lstrip("#").strip() for line in found.body.splitlines() if line.strip()), "")
    description = " ".join(found.fields.get("description", first).split())
    hint = " ".join(found.fields.get("argument-hint", found.fields.get("arguments", "")).split())
    effort, wrong = effort_of(found)
    problem = " ".join(filter(None, (problem, wrong)))
    said = description[:_DESCRIPTION], hint[:_DESCRIPTION]
    return UserCommand(sheet, *said, found.body.strip(), problem, effort=effort)


def expanded(body: str, arguments: str, longest: int) -> str | None:
    """The command's text with its arguments; None where it would have more than `longest` characters.

    `$ARGUMENTS` is all that was typed behind the name, `$1` to `$9` are its words, as a shell would part them. Where
    the text has neither, the arguments follow it.
    """
    places = [*_PLACEHOLDER.finditer(body)]
    if not places:
        made = f"{body}\n\nArguments: {arguments}" if arguments else body
        return made if len(made) <= longest else None
    words = _words(arguments) if any(match[2] for match in places) else []

    def value(match: re.Match[str]) -> str:
        if match[1]:
            return arguments
        number = int(match[2])
        return words[number - 1] if number <= len(words) else ""

    if len(body) + sum(len(value(match)) for match in places) > longest:
        return None
    return _PLACEHOLDER.sub(value, body)


def _words(arguments: str) -> list[str]:
    try:
        return shlex.split(arguments)
    except ValueError:  # a quote that is not closed
        return arguments.split()
