"""`codelaw trust`: whether a folder's own settings file counts (S-3)."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from codelaw.app.requests.permissions import record_trust
from codelaw.cli.agreed import agreed
from codelaw.cli.exits import FAILED, FINISHED
from codelaw.cli.terminal import BOLD, DIM, GREEN, RED, Screen
from codelaw.domain.errors import Refusal
from codelaw.domain.safety.unseen import visible_line
from codelaw.settings.effective import WorkspaceFile, load_settings
from codelaw.settings.model import Settings
from codelaw.settings.places import WORKSPACE_FILE, home, login_name, process_environment, user_file
from codelaw.settings.trust import set_trust, trusted_folders

_LATER = "An editor that is open takes it in when it reads its settings again, at the latest when it is restarted."


def trust(arguments: argparse.Namespace) -> int:
    """Show what the folder's settings file sets, ask, and remember the answer for just this content."""
    folder = Path(arguments.dir or ".")
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
