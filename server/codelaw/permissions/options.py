"""The answers offered when a call is asked about (S-2), and what is given for always, by folder and person (S-1)."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace

from codelaw.domain.permissions import ApprovalOption, Grant
from codelaw.permissions.offers import LONGEST, keeps_to_offer, offered
from codelaw.permissions.policy import CallFacts, Rules, fully_visible, judge
from codelaw.permissions.risky_flags import has_risky_flag
from codelaw.permissions.rules import Rule, RuleError, escape_path, parse
from codelaw.permissions.shell import read

SHOWN = 120
"""Characters of a rule that every client shows whole; a longer one is not offered."""


def options_for(facts: CallFacts, *, only_once: bool = False) -> tuple[ApprovalOption, ...]:
    """Once, always in this chat, always for a pattern, reject; with `only_once` no standing answer (S-8).

    A standing answer is offered where a sensible rule exists, and only when the whole of it can be shown.
    """
    once = ApprovalOption("once", "Allow once", "allow_once")
    reject = ApprovalOption("reject", "Reject", "reject")
    rule = None if only_once else proposed_rule(facts)
    if rule is None or len(rule) > SHOWN or not (rule.isprintable() and fully_visible(rule)) or "  " in rule:
        return once, reject
    shown = f"{facts.tool}, as it is now" if facts.digest else rule
    return (
        once,
        ApprovalOption("chat", f"Allow in this chat: {shown}", "allow_chat", rule),
        ApprovalOption("always", f"Always allow: {shown}", "allow_always", rule),
        reject,
    )


def proposed_rule(facts: CallFacts) -> str | None:
    """The narrowest rule that is still of use, or None; it always covers the call itself."""
    if facts.tool == "Bash":
        text = _command_rule((facts.subject or "").strip())
    elif facts.effect == "write" and facts.subject:
        tool = "Edit" if facts.tool in ("MultiEdit", "Write") else facts.tool
        folder = posixpath.dirname(facts.subject)
        text = f"{tool}({escape_path(folder)}/**)" if folder else f"{tool}(/{escape_path(facts.subject)})"
    else:
        text = f"{facts.tool}@{facts.digest}" if facts.digest else facts.tool
    try:
        rules = Rules(grants=(parse(text or ""),))
    except RuleError:
        return None
    return text if judge(facts, mode="agent", rules=rules).action == "allow" else None


def _command_rule(command: str) -> str | None:
    """A rule by the first words for what may be allowed like that, else for the very command; None for neither.

    A command that ends like a prefix rule has no rule of its own: `Bash(npm run :*)` would cover every script.
    """
    parts = read(command)
    if parts is not None and len(parts) == 1 and not parts[0].writes and parts[0].words == parts[0].command:
        words = parts[0].command
        prefix = offered(tuple(word.value for word in words[:LONGEST]))
        if prefix is not None and not has_risky_flag(words, 1) and keeps_to_offer(prefix, words):
            return f"Bash({' '.join(prefix)}:*)"
    return None if command.endswith(":*") else f"Bash({command})"


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

    One that an older version wrote and this one cannot read, or that does not say what a server's tool was, allows
    nothing: the user is asked again.
    """
    root, _ = home(facts, folders)
    found: list[Rule] = []
    for grant in grants:
        with suppress(RuleError):
            if root and grant.folder == root and (rule := parse(grant.rule)).lasting:
                found.append(_shown(rule, folders[root] if len(folders) > 1 else None))
    return found


def _shown(rule: Rule, name: str | None) -> Rule:
    """A rule of one folder among several: `src/**` is shown as `name/src/**` there."""
    if name is None or rule.specifier is None or rule.tool == "Bash":
        return rule
    pattern = rule.specifier.removeprefix("./")
    inside = pattern.removeprefix("/") if "/" in pattern else f"**/{pattern}"
    return replace(parse(f"{rule.tool}(/{escape_path(name)}/{inside})"), text=rule.text)
