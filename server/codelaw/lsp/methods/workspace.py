"""`codelaw/workspace/*`, and the question whether a folder is to be trusted (S-3)."""

from __future__ import annotations

import asyncio
import logging
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from codelaw.domain.errors import Refusal
from codelaw.domain.safety.unseen import visible_line
from codelaw.lsp.documents.documents import path_of
from codelaw.lsp.transport.errors import ClientError
from codelaw.protocol import workspaces as wire
from codelaw.settings.effective import WorkspaceFile
from codelaw.settings.places import WORKSPACE_FILE
from codelaw.settings.trust import set_trust

if TYPE_CHECKING:
    from codelaw.domain.files import Folder
    from codelaw.lsp.context import Context

log = logging.getLogger(__name__)

TRUST = "Trust this folder"
NOT_NOW = "Not now"
SHOWN_CHARACTERS = 900
"""Of a question: editors cut longer ones, and nobody trusts what they have not seen."""
SHOWN_VALUES = 15
RUN = "codelaw trust"
"""The command of the terminal that shows every value and asks."""


async def trust(context: Context, params: wire.TrustFolder) -> object:
    folder = await asyncio.to_thread(_folder, context, params.folder)
    if params.trusted:
        await context.configuration.reload()
        file = _file_of(context, folder.root)
        faults = (*context.configuration.effective.faults, *context.configuration.effective.stale)
        unread = next((fault for fault in faults if fault.file == folder.root / WORKSPACE_FILE), None)
        if unread is not None:
            raise Refusal(
                "not_trusted", f"There is nothing to trust: {visible_line(str(unread))}.", "Mend the file first."
            )
        if file is None:
            raise Refusal(
                "not_trusted", f"{visible_line(str(folder.root))} has no {WORKSPACE_FILE} to trust.", "Write it first."
            )
        if params.digest is None:
            raise Refusal(
                "not_trusted",
                "The digest of the values that the user has seen is missing.",
                "Show those of `codelaw/workspace/settings`, and pass the digest that came with them.",
            )
        if params.digest != file.digest:
            raise _changed(file.path)
        await _remember(context, folder.root, file.digest)
    else:
        await _remember(context, folder.root, None)
    return params.trusted


async def settings(context: Context, _params: wire.ReadWorkspaceSettings) -> object:
    """What each folder's own settings file holds, to be seen before it is trusted."""
    await context.configuration.reload()
    names = {folder.root: folder.name for folder in await asyncio.to_thread(context.folders.resolve)}
    return wire.WorkspaceSettings(
        files=[
            wire.WorkspaceFile(
                folder=names.get(_root(file.path), ""),
                path=str(_root(file.path)),
                file=str(file.path),
                digest=file.digest,
                trusted=file.trusted,
                values=file.held,
            )
            for file in context.configuration.effective.files
        ]
    )


def offer_trust(context: Context, asked: set[tuple[str, str]]) -> None:
    """Ask about every workspace file that has been held back, once as long as it says the same."""
    for file in context.configuration.effective.files:
        question = (str(file.path), file.digest)
        if file.held and not file.trusted and question not in asked:
            asked.add(question)
            context.spawn(_ask(context, file))


async def _ask(context: Context, file: WorkspaceFile) -> None:
    folder = _root(file.path)
    name, path = visible_line(str(folder)), visible_line(str(file.path))
    run = visible_line(f"{RUN} {shlex.quote(str(folder))}")
    values = "\n".join(f"{key} = {value}" for key, value in file.held.items())
    text = f"codelaw: {path} sets:\n{values}\nThis counts only when you trust the folder {name} with it."
    if len(text) > SHOWN_CHARACTERS or len(file.held) > SHOWN_VALUES:
        keys = ", ".join(file.held)[: SHOWN_CHARACTERS // 2]
        count = f"{len(file.held)} settings that count only when you trust the folder ({keys}), too long to show here"
        context.ui.message("warning", f"codelaw: {path} has {count}. To see and trust them, run: {run}")
        return
    try:
        chosen = await context.ui.pressed(text, (TRUST, NOT_NOW))
    except ClientError as error:
        log.info("The client does not ask about trust: %s", error)
        context.ui.message("warning", f"{text} To trust it, run: {run}")
        return
    if chosen != TRUST:
        return
    try:
        await context.configuration.reload()
        now = _file_of(context, folder)
        if now is None or now.digest != file.digest:
            raise _changed(file.path)
        await _remember(context, folder, file.digest)
    except Refusal as refused:
        context.ui.message("error", f"codelaw: {refused.message}")


def _changed(file: Path) -> Refusal:
    message = f"{visible_line(str(file))} has changed since it was shown: it is not trusted."
    return Refusal("not_trusted", message, "Look at its values again.")


def _root(file: Path) -> Path:
    return Path(str(file).removesuffix(WORKSPACE_FILE))


def _file_of(context: Context, root: Path) -> WorkspaceFile | None:
    return next((file for file in context.configuration.effective.files if file.path == root / WORKSPACE_FILE), None)


async def _remember(context: Context, root: Path, digest: str | None) -> None:
    try:
        await asyncio.to_thread(set_trust, context.home, root, digest)
    except OSError as error:
        message = f"It cannot be remembered whether {root} is trusted: {error}"
        raise Refusal("store_unavailable", message, "See whether the data folder is writable.") from error
    context.session.permissions.record_trust(root, trusted=digest is not None)
    await context.configuration.reload()


def _folder(context: Context, named: str) -> Folder:
    """The workspace folder with that uri or path."""
    path = path_of(named) if "://" in named else Path(named)
    folders = context.folders.resolve()
    real = Path(os.path.realpath(path)) if path is not None and path.is_absolute() else None
    for folder in folders:
        if folder.root == real:
            return folder
    known = ", ".join(str(folder.root) for folder in folders) or "none"
    raise Refusal("folder_not_found", f"{named} is not a folder of this workspace.", f"Its folders are: {known}.")
