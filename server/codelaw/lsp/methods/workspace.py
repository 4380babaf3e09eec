"""`codelaw/workspace/*`, and the questions whether a folder is to be trusted (S-3), and a server may start (X-3)."""

from __future__ import annotations

import asyncio
import logging
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from codelaw.domain.errors import Refusal
from codelaw.domain.safety.unseen import visible, visible_line
from codelaw.lsp.documents.documents import path_of
from codelaw.lsp.transport.errors import ClientError
from codelaw.protocol import permissions as wire
from codelaw.settings.effective import WorkspaceFile
from codelaw.settings.places import WORKSPACE_FILE
from codelaw.settings.trust import set_trust

if TYPE_CHECKING:
    from codelaw.domain.files import Folder
    from codelaw.lsp.context import Context

log = logging.getLogger(__name__)

TRUST = "Trust this folder"
ENABLE = "Enable"
NOT_NOW = "Not now"
SHOW = "Show what it runs"
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
            message = f"{visible_line(str(file.path))} has changed since it was shown: it is not trusted."
            raise Refusal("not_trusted", message, "Look at its values again.")
    await _remember(context, folder.root, params.digest if params.trusted else None)
    return params.trusted


async def settings(context: Context, _params: wire.ReadWorkspaceSettings) -> object:
    """What each folder's own settings file holds, to be seen before it is trusted."""
    await context.configuration.reload()
    names = {folder.root: folder.name for folder in await asyncio.to_thread(context.folders.resolve)}
    return [
        wire.WorkspaceFilePayload.of(
            file, folder=names.get(root := _root(file.path), ""), path=str(root), file=str(file.path), values=file.held
        )
        for file in context.configuration.effective.files
    ]


def offer_trust(context: Context, asked: set[tuple[str, str]]) -> None:
    """Ask about every workspace file that has been held back, once as long as it says the same."""
    for file in context.configuration.effective.files:
        question = (str(file.path), file.digest)
        if file.held and not file.trusted and question not in asked:
            asked.add(question)
            context.spawn(_ask_trust(context, file))


async def _ask_trust(context: Context, file: WorkspaceFile) -> None:
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
        await trust(context, wire.TrustFolder(folder=str(folder), trusted=True, digest=file.digest))
    except Refusal as refused:
        context.ui.message("error", f"codelaw: {refused.message}")


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


async def offer_servers(context: Context, asked: set[tuple[str, str]]) -> None:
    """Ask about every server that waits for the user, one after the other, each once as long as it is the same.

    A dismissed box is not an answer: it is asked again by the next server. The answer no is remembered.
    """
    if context.client.servers:
        return
    for server in (await context.session.servers.list()).servers:
        question = (server.name, server.digest or "")
        if server.ask and question not in asked:
            asked.add(question)
            await _ask_server(context, server.message, *question)


async def _ask_server(context: Context, reported: str, name: str, digest: str) -> None:
    head = f"codelaw: the server {visible_line(name)} is not started."
    text = f"{head} {visible_line(reported)}"
    if len(text) > SHOWN_CHARACTERS:
        size = f"What it would run has {len(reported)} characters. Look at all of it first."
        if await _pressed(context, f"{head} {size}", (SHOW, NOT_NOW)) != SHOW:
            return
        await context.ui.document("records", "server", visible(reported))
        if not context.client.documents:
            context.ui.message("warning", f"To let it start, run: codelaw mcp enable {name}")
            return
        text = f"{head} All of it is shown in a document."
    answer = await _pressed(context, text, (ENABLE, NOT_NOW))
    try:
        if answer == ENABLE:
            await context.session.servers.enable(name, enabled=True, digest=digest)
        elif answer == NOT_NOW:
            await context.session.servers.decline(name, digest=digest)
    except Refusal as refused:
        context.ui.message("error", f"codelaw: {refused.message} {refused.hint}")


async def _pressed(context: Context, text: str, titles: tuple[str, ...]) -> str | None:
    """The button that was pressed; None where none was, or the client shows no boxes: its chats tell of the server."""
    try:
        return await context.ui.pressed(text, titles)
    except ClientError as error:
        log.info("The client does not ask about servers: %s", error)
        return None
