"""Permissions given for always: each belongs to a folder, and to the person who gave it (S-1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace

from codelaw.domain.permissions import Grant
from codelaw.permissions.options import proposed_rule
from codelaw.permissions.policy import CallFacts
from codelaw.permissions.rules import Rule, RuleError, escape_path, parse

Folders = Mapping[str, str]
"""The workspace's folders in their order, real path to name; commands run in the first."""


def home(facts: CallFacts, folders: Folders) -> tuple[str, CallFacts]:
    """The real path of the folder that a call belongs to, and the call as seen from there.

    That of its path; for a command, and where no path is given, the first. Empty where there is none.
    """
    first = next(iter(folders), "")
    if len(folders) < 2 or facts.effect == "execute" or facts.subject is None:
        return first, facts
    name, _, inside = facts.subject.partition("/")
    root = next((root for root, known in folders.items() if known == name), "")
    return root, replace(facts, subject=inside or ".")


def kept_rule(facts: CallFacts, folders: Folders) -> str | None:
    """The rule that an answer for always keeps: as it is spelt in the call's own folder, whatever stands beside it."""
    return proposed_rule(home(facts, folders)[1])


def in_force(grants: Iterable[Grant], facts: CallFacts, folders: Folders) -> list[Rule]:
    """The rules of the grants that belong to the call's folder, as paths are shown now.

    One that an older version wrote and this one cannot read allows nothing: the user is asked again.
    """
    root, _ = home(facts, folders)
    found: list[Rule] = []
    for grant in grants:
        with suppress(RuleError):
            if root and grant.folder == root:
                found.append(_shown(parse(grant.rule), folders[root] if len(folders) > 1 else None))
    return found


def _shown(rule: Rule, name: str | None) -> Rule:
    """A rule of one folder among several: `src/**` is shown as `name/src/**` there."""
    if name is None or rule.specifier is None or rule.tool == "Bash":
        return rule
    pattern = rule.specifier.removeprefix("./")
    inside = pattern.removeprefix("/") if "/" in pattern else f"**/{pattern}"
    return replace(parse(f"{rule.tool}(/{escape_path(name)}/{inside})"), text=rule.text)
