"""`codelaw permissions`, `codelaw audit` and `codelaw trust`: what may be done, and what was decided (S-1 to S-8)."""

from __future__ import annotations

import argparse
import asyncio
import time
from pathlib import Path
from typing import Any

from codelaw.app.requests.permissions import record_trust
from codelaw.cli.agreed import agreed
from codelaw.cli.commands.one_shot import ask_server, list_entries
from codelaw.cli.exits import FAILED, FINISHED
from codelaw.cli.spawn import Server
from codelaw.cli.terminal import BOLD, DIM, GREEN, RED, YELLOW, Screen
from codelaw.domain.errors import Refusal
from codelaw.domain.safety.unseen import visible_line
from codelaw.settings import (
    WORKSPACE_FILE,
    Settings,
    WorkspaceFile,
    home,
    load_settings,
    login_name,
    process_environment,
    set_trust,
    trusted_folders,
    user_file,
)

Json = dict[str, Any]

_LATER = "An editor that is open takes it in when it reads its settings again, at the latest when it is restarted."


def trust(arguments: argparse.Namespace) -> int:
    """Show what the folder's settings file sets, ask, and remember the answer for just this content."""
    folder = Path(arguments.dir)
    if not folder.is_dir():
        arguments.usage_error(f"{arguments.dir!r} is not a folder")
    folder = folder.resolve()
    screen = Screen()
    try:
        return _revoke(screen, folder) if arguments.revoke else _trust(screen, folder, yes=arguments.yes)
    except OSError as error:
        screen.line(f"It cannot be remembered whether {_name(folder)} is trusted: {error}", style=RED)
        return FAILED


def _revoke(screen: Screen, folder: Path) -> int:
    environ = process_environment()
    set_trust(home(environ), folder, None)
    _record(screen, load_settings(environ=environ, user_file=user_file(environ)).value, folder, trusted=False)
    screen.line(f"{_name(folder)} is not trusted: its {WORKSPACE_FILE} may only tighten. {_LATER}")
    return FINISHED


def _trust(screen: Screen, folder: Path, *, yes: bool) -> int:
    environ = process_environment()
    path = folder / WORKSPACE_FILE
    known = trusted_folders(home(environ)).get(folder)
    read = load_settings(
        environ=environ,
        user_file=user_file(environ),
        workspace_files=[path],
        trusted={path: known} if known is not None else {},
    )
    if not read.files:
        unreadable = [problem.message for problem in read.problems if str(path) in problem.message]
        screen.line("\n".join(unreadable) or f"There is no {_name(path)}: nothing to trust.", style=RED)
        return FAILED
    file = read.files[0]
    _show(screen, file)
    if not file.held:
        screen.line("It sets nothing that needs trust.", style=DIM)
        return FINISHED
    if file.trusted:
        screen.line("It is trusted with just these values. --revoke takes that back.", style=DIM)
        return FINISHED
    if known is not None:
        screen.line("It was trusted with other values, and has changed since.", style=BOLD)
    if not yes and not agreed(screen, f"Trust {_name(folder)} with these values?"):
        screen.line("Not trusted.", style=DIM)
        return FAILED
    set_trust(home(environ), folder, file.digest)
    _record(screen, read.value, folder, trusted=True)
    screen.line(
        f"{_name(folder)} is trusted with these values; when the file changes, it is not. {_LATER}", style=GREEN
    )
    return FINISHED


def _record(screen: Screen, settings: Settings, folder: Path, *, trusted: bool) -> None:
    """Put it on record; a store that cannot be used takes nothing back."""
    environ = process_environment()
    try:
        asyncio.run(record_trust(settings, home(environ), login_name(environ), folder, trusted=trusted))
    except Refusal as refusal:
        screen.line(f"This could not be put on record: {refusal.message}", style=DIM)


def _show(screen: Screen, file: WorkspaceFile) -> None:
    if file.held:
        screen.line(f"{_name(file.path)} sets what counts only when you trust its folder:", style=BOLD)
    for key, value in file.held.items():
        screen.line(f"  {key} = {value}", aside=False)


def _name(path: Path) -> str:
    return visible_line(str(path))


_STYLES = {"allow": GREEN, "grant": GREEN, "trust": GREEN, "deny": YELLOW, "violation": RED}


def audit(server: Server, arguments: argparse.Namespace) -> int:
    """Print the record, the oldest first, so that the newest stands at the prompt."""
    params: Json = {"limit": min(arguments.limit, 10_000)} | ({"chatId": arguments.chat} if arguments.chat else {})
    return list_entries(
        server,
        arguments,
        "codelaw/permission/audit",
        params,
        lambda found: found["entries"][::-1],
        show=_print,
        empty="Nothing is on record.",
    )


def _print(screen: Screen, entry: Json) -> None:
    """When, what, by whom, about what; further lines of the detail below it."""
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(entry["at"]))
    by = f"{entry['by']} ({entry['rule']})" if entry.get("rule") else entry["by"]
    first, *more = (entry.get("detail") or entry["title"]).splitlines() or [""]
    head = " ".join(filter(None, (entry["decision"], "by", by, "-", entry["tool"], first)))
    line = f"{when}  {entry['chatId'] or '-':<12}  {visible_line(head)}"
    screen.line(line, style=_STYLES.get(entry["decision"], ""), aside=False)
    for text in more:
        screen.line(f"    {visible_line(text)}", style=DIM, aside=False)


def permissions(server: Server, arguments: argparse.Namespace) -> int:
    """Do what `arguments.action` names."""
    if arguments.action == "revoke":
        return ask_server(server, arguments, "codelaw/permission/revoke", {"id": arguments.id}, _revoked)
    empty = "Nothing is allowed for always: writes and commands are asked about."
    return list_entries(
        server, arguments, "codelaw/permission/list", {}, lambda answer: answer["grants"], show=_grant, empty=empty
    )


def _grant(screen: Screen, grant: Json) -> None:
    """The whole rule and its whole folder on one line; they are what is allowed."""
    line = f"{grant['id']}  {grant['scope']:<6}  {visible_line(grant['rule'])}"
    where = f"in {grant['folder']}" if "folder" in grant else ""
    screen.line(f"{line}  {visible_line(where)}".rstrip(), aside=False)


def _revoked(screen: Screen, _: Json) -> None:
    screen.line("Taken back: it is asked about again.", style=DIM)
