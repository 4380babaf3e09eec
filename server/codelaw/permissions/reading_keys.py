"""Reading of files that are made to hold keys: only a person allows it, or a rule that names the very file (S-8)."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from codelaw.domain.safety.key_files import keeps_keys
from codelaw.permissions.expand_command import runs_its_input
from codelaw.permissions.naming import MAX_NAMES, named_by
from codelaw.permissions.risky_flags import has_risky_flag
from codelaw.permissions.rules import Rule
from codelaw.permissions.sensitive_files import meant
from codelaw.permissions.shell import Simple, Word, listed, program

_BY_NAME = listed("ls stat test [ file du echo touch mkdir rm rmdir chmod cd which basename dirname realpath find")
"""Programs that show or change nothing of what stands in the files they are given."""
_CARRIERS = listed("xargs parallel read mapfile readarray sh bash zsh dash")
"""Programs that take names from what others print."""
_GIT_BY_NAME = listed("check-attr check-ignore ls-files rm")
"""Subcommands that tell nothing of what stands in the files they are given."""
_MESSAGES = listed("-m -am --message --title --body --description --notes")
_SPEAKERS = listed("git gh hub glab")
_OWN_PATTERN = re.compile(r"-[a-zA-Z]*[ef].*|--(?:reg|file|pre).*", re.DOTALL)
_SEARCHERS = listed("grep egrep fgrep rg ag ack")
_LONG_VALUED = r"--(?:after-context|before-context|context|glob|iglob|max-count|type|type-not)"
_VALUED = {
    name: re.compile(rf"-[^\W\d_{letters}]*[{letters}]|{_LONG_VALUED}")
    for names, letters in (("grep egrep fgrep", "ABCDdefm"), ("rg", "ABCEMTdefgjmrt"))
    for name in names.split()
}
"""Options of theirs whose value stands apart."""
_MAGIC = re.compile(r"[*?\[]")
_USUAL = (
    *(".env", ".env.local", ".netrc", ".npmrc", ".pypirc", ".pgpass", ".git-credentials", ".htpasswd"),
    *("id_rsa", "id_ed25519", "credentials", "credentials.json", "secrets.yaml", "secrets.json", "terraform.tfvars"),
)
_LEAST = 3
"""Characters in front of a pattern's first star that say what is meant."""


def allowed_by_name(allow: Sequence[Rule], path: str) -> bool:
    """Whether a rule of the settings names the file, as shown, by its own name, so that the user has meant it."""
    name = posixpath.basename(path)
    return any(
        rule.permits("Read", "reads")
        and rule.specifier is not None
        and posixpath.basename(rule.specifier) == name
        and rule.covers_path(path)
        for rule in allow
    )


def why_asked(path: str) -> str:
    """What the user is told, which says how to be spared the question."""
    name = posixpath.basename(path)
    return f"{name} is made to hold keys: it is asked about, unless permissions.allow has Read({name})."


def keys_read(command: str, parts: Sequence[Simple] | None, allow: Sequence[Rule]) -> str | None:
    """A file made to hold keys that a command names in more than passing, and no rule names; None without any.

    `parts` is the command as read, None when it cannot be read.
    """
    if any(rule.tool == "Bash" and rule.prefix is None and rule.specifier == command.strip() for rule in allow):
        return None
    looked = None if parts is None else list(_that_read(command, parts))
    for count, (name, _, _) in enumerate(named_by(command, looked, {"/": ""})):
        base = posixpath.basename(name)
        kept = keeps_keys(base) or keeps_keys(_MAGIC.sub("x", base)) or _may_keep(base.casefold())
        if count > MAX_NAMES or (kept and not allowed_by_name(allow, name)):
            return base
    return None


def _that_read(command: str, parts: Sequence[Simple]) -> Iterator[Simple]:
    """The parts without what they only speak of, look for, or make anew."""
    carried = any(not _CARRIERS.isdisjoint(word.value or "" for word in part.words) for part in parts)
    carried = carried or "$(" in command or "`" in command
    for part in parts:
        first, words, name = part.command[:1], part.command[1:], program(part.command)
        told = (words[0].value in _GIT_BY_NAME) if name == "git" and words else name in _BY_NAME
        if told and (name == "git" or not has_risky_flag(part.command, 1)):
            first, words = (), (words if carried else ())
        elif name in _SPEAKERS:
            words = tuple(word for before, word in pairwise(part.command) if not _is_message(before, word))
        elif name == "cp" and len(words) == len(("from", "to")) and not words[0].raw.startswith("-"):
            words = words[:1]
        elif name in _SEARCHERS and not any(_OWN_PATTERN.fullmatch(word.raw) for word in words):
            beside = zip(part.command, words, strict=False)
            valued = _VALUED.get(name)
            apart = (word for before, word in beside if valued is None or not valued.fullmatch(before.raw))
            pattern = next((word for word in apart if not word.raw.startswith("-")), None)
            words = tuple(word for word in words if word is not pattern)
        targets = part.targets if "<>" in part.text else [one for one in part.targets if one not in part.writes]
        inputs = part.inputs if runs_its_input(part.command) else ()
        said = (Word(text, text) for text in inputs if text is not None)
        yield replace(part, words=(*part.assignments, *first, *words, *said), targets=targets)


def _is_message(before: Word, word: Word) -> bool:
    return before.raw in _MESSAGES or word.raw.partition("=")[0] in _MESSAGES


def _may_keep(pattern: str) -> bool:
    """Whether a pattern that says enough stands for the usual name of such a file."""
    before = _MAGIC.split(pattern, maxsplit=1)[0]
    enough = before != pattern and (before.startswith(".") or len(before) >= _LEAST)
    return enough and meant(pattern, _USUAL) is not None
