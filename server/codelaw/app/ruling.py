"""The permission rules of the settings, what a command may take, and how it runs, put in force (S-1, S-4, T-6)."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from codelaw.adapters.processes.limits import CommandLimits
from codelaw.adapters.processes.local import LocalProcesses
from codelaw.adapters.processes.rules.withheld import WithheldPaths
from codelaw.adapters.web.fetching import WebFetcher
from codelaw.agent.turn.approval import Policy
from codelaw.domain.chats import Mode, Notice
from codelaw.permissions.policy import NOTHING_OBEYED, Denied, denied_to
from codelaw.permissions.rules import Rule, parse, parse_all
from codelaw.settings.workspace import usual_memory
from codelaw.tools.toolbox import ruled_tools

if TYPE_CHECKING:
    from codelaw.adapters.crash_journal.crash_journal import CrashJournal
    from codelaw.adapters.processes.sandbox import Sandbox
    from codelaw.domain.files import Folder
    from codelaw.domain.permissions import Grant
    from codelaw.domain.safety.obeyed_paths import ObeyedPaths
    from codelaw.ports.workspace import Processes, Workspace
    from codelaw.settings.model import Settings


def web_of(settings: Settings) -> WebFetcher | None:
    """What fetches pages, under the network's rule for commands; None where that lets nothing be reached."""
    network = settings.tools.bash.network
    return WebFetcher(network if isinstance(network, bool) else tuple(network)) if network else None


async def processes_of(
    settings: Settings,
    environment: Mapping[str, str],
    sandbox: Sandbox,
    folders: Sequence[Folder],
    *,
    leftovers: CrashJournal,
) -> LocalProcesses:
    """What runs commands as those settings say: in the sandbox unless it is switched off."""
    bash = settings.tools.bash
    off = bash.sandbox == "off"
    _, deny, _ = _read(settings, folders)
    memory = bash.memory_mb or await asyncio.to_thread(usual_memory)
    return LocalProcesses(
        environment,
        sandbox=sandbox,
        means=None if off else await sandbox.means(),
        network=bash.network if isinstance(bash.network, bool) else tuple(bash.network),
        withheld=WithheldPaths(
            unreadable=denied_to("Read", "reads", deny),
            unwritable=denied_to("Edit", "writes", deny),
            hidden=tuple(bash.hidden),
            read_only=tuple(bash.read_only),
            names={folder.root: folder.name for folder in folders},
            key=(*(rule.text for rule in deny), *bash.hidden, *bash.read_only),
        ),
        limits=CommandLimits(memory, bash.processes, bash.file_size_mb, bash.tmp_mb),
        leftovers=leftovers,
    )


_MAGIC = re.compile(r"[*?\[{\\]")


def policy(
    settings: Settings,
    mode: Mode,
    processes: Processes,
    folders: Sequence[Folder],
    *,
    restricted: bool = False,
    all_asked: bool = False,
    obeyed: ObeyedPaths = NOTHING_OBEYED,
) -> tuple[Policy, list[Notice]]:
    """The rules of a turn, and a notice for every rule that is not in force, or can match nothing.

    With `all_asked` no rule, grant or hook spares the question about a write or a command.
    """
    allow, deny, notices = _read(settings, folders)
    if settings.tools.bash.sandbox == "require" and not processes.trusted:
        deny.append(parse("Bash"))
        who = "What is left out of this run may require" if all_asked else "tools.bash.sandbox requires"
        message = f"{who} a full sandbox and there is none: commands are refused. {processes.describe}"
        notices.append(Notice("warning", "sandbox_missing", message))
    rules = Policy(
        mode,
        tuple(allow),
        tuple(deny),
        settings.permissions.default,
        processes.trusted,
        restricted=restricted,
        commands_always_asked=not processes.posix,
        all_asked=all_asked,
        roots={str(folder.root): folder.name if len(folders) > 1 else "" for folder in folders},
        obeyed=obeyed,
    )
    return rules, notices


def rule_notices(settings: Settings, folders: Sequence[Folder]) -> list[Notice]:
    """What is wrong with the rules, those included that only the disk shows to match nothing. Touches the disk."""
    allow, deny, notices = _read(settings, folders)
    for rule in dict.fromkeys([*allow, *deny]):
        doubt = _doubt(rule, folders)
        if doubt:
            notices.append(Notice("warning", "rule_ineffective", f"The permission rule {rule.text!r}: {doubt}."))
    return notices


def visible(workspace: Workspace, settings: Settings) -> Workspace:
    """The workspace without the files that the rules deny to every tool that reads."""
    return workspace.without(unreadable(settings, workspace.folders))


def unreadable(settings: Settings, folders: Sequence[Folder]) -> Denied | None:
    """What the deny rules in force keep from reading; None where no rule speaks of it."""
    _, deny, _ = _read(settings, folders)
    return denied_to("Read", "reads", deny)


def served_rules(
    settings: Settings, grants: Sequence[Grant], folders: Sequence[Folder]
) -> tuple[list[Rule], list[Rule]]:
    """What allows tools of servers, by the settings or for always in the first folder, and what denies them (X-3)."""
    allow, deny, _ = _read(settings, folders)
    first = str(folders[0].root) if folders else ""
    granted, _ = parse_all(grant.rule for grant in grants if grant.folder == first)
    granted = [rule for rule in granted if rule.lasting]
    return [rule for rule in (*allow, *granted) if rule.served], [rule for rule in deny if rule.served]


def _read(settings: Settings, folders: Sequence[Folder]) -> tuple[list[Rule], list[Rule], list[Notice]]:
    roots = tuple((str(folder.root), folder.name) for folder in folders)
    allow, deny, notices = _parsed(tuple(settings.permissions.allow), tuple(settings.permissions.deny), roots)
    return [*allow], [*deny], [*notices]


@lru_cache(16)
def _parsed(
    allowed: tuple[str, ...], denied: tuple[str, ...], roots: tuple[tuple[str, str], ...]
) -> tuple[tuple[Rule, ...], tuple[Rule, ...], tuple[Notice, ...]]:
    """The rules as they are written; every step of a turn asks for them."""
    tools = ruled_tools()
    allow, wrong = parse_all(allowed, tools, dict(roots))
    deny, wrong_too = parse_all(denied, tools, dict(roots))
    notices = [
        Notice("error", "rule_ignored", f"The permission rule {problem.text!r} is not in force: {problem.reason}.")
        for problem in wrong
    ]
    # Of a rule that cannot be read in these folders its tool is left, so that it denies too much.
    deny += [parse(problem.text.partition("(")[0]) for problem in wrong_too]
    notices += [
        Notice("error", "rule_ignored", f"The permission rule {problem.text!r} denies all of it: {problem.reason}.")
        for problem in wrong_too
    ]
    return tuple(allow), tuple(deny), tuple(notices)


def _doubt(rule: Rule, folders: Sequence[Folder]) -> str:
    """Why a rule that could be read matches nothing all the same; empty when nothing speaks for that."""
    if rule.specifier is None or rule.tool == "Bash":
        return ""
    parts = rule.specifier.removeprefix("./").split("/")
    literal: list[str] = []
    for part in parts:
        if _MAGIC.search(part):
            break
        literal.append(part)
    if len(literal) > 1 and literal[0] == "" and not any((folder.root / literal[1]).exists() for folder in folders):
        outside = Path("/", literal[1])
        if literal[1] and outside.exists():
            return f"it is about /{literal[1]} in the workspace, where there is none; outside of it no file tool goes"
    for folder in folders:
        for length in range(1, len(literal) + 1):
            place = folder.root.joinpath(*[part for part in literal[:length] if part])
            if len(parts) > 1 and place != folder.root and os.path.islink(place):  # noqa: PTH114 - never raises
                return f"{place.name} is a link, and rules match the path that it leads to: name that one"
    return ""
