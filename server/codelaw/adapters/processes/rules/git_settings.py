"""Git's settings by their lines: which of them name no program, and which of a user's a command may know (S-4, S-8)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_HEADER = re.compile(r"\[\s*([\w.-]+)(\s+\"(?:[^\"\\]|\\.)*\")?\s*\]\s*")
_SETTING = re.compile(r"([A-Za-z][\w-]*)\s*(?:=\s*(.*))?")
_HARMLESS = re.compile(
    r"(?:advice|branch|color|column|commit|extensions|feature|fetch|gc|index|init|lfs|maintenance|pack|pull|push|rerere"
    r"|status|user)\..*"
    r"|core\.(?:abbrev|autocrlf|bare|bigfilethreshold|compression|eol|filemode|ignorecase|logallrefupdates"
    r"|precomposeunicode|protecthfs|protectntfs|quotepath|safecrlf|repositoryformatversion|sharedrepository"
    r"|sparsecheckout|sparsecheckoutcone|symlinks|untrackedcache|worktree)"
    r"|remote\.(?:fetch|mirror|partialclonefilter|promisor|prune|push|pushurl|tagopt|url)"
    r"|submodule\.(?:active|branch|fetchrecursesubmodules|ignore|recurse|url)"
)
"""Sections, and of others the settings, that name no program."""
_GIT_KEYS = re.compile(
    r"advice\.\w+|apply\.\w+|blame\.\w+|branch\.(autosetupmerge|autosetuprebase|sort)|color\.[\w.-]+|column\.\w+"
    r"|commit\.(cleanup|status|verbose)"
    r"|core\.(abbrev|autocrlf|bigfilethreshold|commentchar|eol|excludesfile|filemode|ignorecase|longpaths"
    r"|precomposeunicode|quotepath|safecrlf|symlinks|whitespace)"
    r"|diff\.(algorithm|colormoved|colormovedws|context|indentheuristic|interhunkcontext|mnemonicprefix|noprefix"
    r"|renamelimit|renames|statgraphwidth|submodule|wordregex|wserrorhighlight)"
    r"|fetch\.(prune|prunetags)|help\.autocorrect|i18n\.\w+|init\.defaultbranch|log\.\w+"
    r"|merge\.(conflictstyle|ff|log|renamelimit|renames|stat|branchdesc)|pull\.(ff|rebase)"
    r"|push\.(autosetupremote|default|followtags)|rebase\.(abbreviatecommands|autosquash|autostash|missingcommitscheck"
    r"|stat|updaterefs)|rerere\.\w+|safe\.directory|status\.\w+|tag\.sort|user\.(name|email|useconfigonly)"
)
"""Settings of git that name no program and hold no secret; all others are left out."""


class GitSetting(NamedTuple):
    """One line that is neither empty nor a comment."""

    text: str
    section: str
    """In lower case; empty where the header cannot be read."""
    named: bool
    """The header has a name in quotes, too, or may be a part of a value over several lines."""
    key: str
    """In lower case; empty where the line is no setting."""
    value: str
    whole: bool
    """Its value does not go over several lines."""


def read_settings(text: str) -> Iterator[GitSetting]:
    """What the lines say; git ends one at a line feed and nowhere else, however a comment goes on."""
    section, named, goes_on = "", False, False
    for line in text.replace("\r\n", "\n").split("\n"):
        rest, continues, goes_on = line.strip(), goes_on, line.endswith("\\")
        while header := _HEADER.match(rest):
            section, named = header[1].lower(), bool(header[2]) or continues or goes_on
            rest = rest[header.end() :]
        section = "" if rest.startswith("[") else section
        if rest and rest[0] not in "#;":
            setting = _SETTING.fullmatch(rest)
            key, value = (setting[1].lower(), setting[2] or "") if setting else ("", "")
            yield GitSetting(rest, section, named, key, value, whole=not (continues or goes_on))


def harmless(settings: str) -> bool:
    """Whether a repository's settings name no program and no other settings, as far as can be said with certainty."""
    return all(
        one.whole and one.key and "\\" not in one.value and _HARMLESS.fullmatch(f"{one.section}.{one.key}")
        for one in read_settings(settings)
    )


def kept_settings(text: str) -> str:
    """Of a user's git settings those that are known to name no program and to hold no secret."""
    found = (one for one in read_settings(text) if one.whole and one.key and not one.named)
    return "".join(
        f"[{one.section}]\n\t{one.text}\n" for one in found if _GIT_KEYS.fullmatch(f"{one.section}.{one.key}")
    )
