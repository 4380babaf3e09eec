"""`codelaw/workspace/*`, and the question whether a folder is to be trusted (S-3)."""

from __future__ import annotations

import asyncio
import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from lsprotocol import types

from codelaw.domain.errors import Refusal
from codelaw.lsp.documents import path_of
from codelaw.lsp.errors import ClientError, Disconnected
from codelaw.lsp.showing import show_message
from codelaw.protocol import workspaces as wire
from codelaw.settings import WORKSPACE_FILE, set_trust

if TYPE_CHECKING:
    from codelaw.domain.files import Folder
    from codelaw.lsp.connection import Connection

log = logging.getLogger(__name__)

TRUST = "Trust this folder"
NOT_NOW = "Not now"
SHOWN_KEYS = 8


async def trust(connection: Connection, params: wire.TrustFolder) -> wire.Trust:
    folder = await asyncio.to_thread(_folder, connection, params.folder)
    await _remember(connection, folder.root, trusted=params.trusted)
    return wire.Trust(trusted=params.trusted)


def offer_trust(connection: Connection) -> None:
    """Ask about every workspace file that has been held back, once as long as it says the same."""
    for file, keys in connection.settings.ignored.items():
        question = (file, *keys)
        if question not in connection.asked_trust:
            connection.asked_trust.add(question)
            connection.later(_ask(connection, Path(file), keys))


async def _ask(connection: Connection, file: Path, keys: list[str]) -> None:
    folder = Path(str(file).removesuffix(WORKSPACE_FILE))
    named = ", ".join(keys[:SHOWN_KEYS]) + (f" and {len(keys) - SHOWN_KEYS} more" if len(keys) > SHOWN_KEYS else "")
    text = f"codelaw: {file} sets {named}. This counts only when you trust the folder {folder}."
    actions = [{"title": TRUST}, {"title": NOT_NOW}]
    message = {"type": int(types.MessageType.Warning), "message": text, "actions": actions}
    try:
        answer = await connection.rpc.request(types.WINDOW_SHOW_MESSAGE_REQUEST, message)
    except ClientError as error:
        log.info("The client does not ask about trust: %s", error)
        show_message(connection.rpc, "warning", f"{text} To trust it, run the command codelaw.workspace.trust.")
        return
    except Disconnected:
        return
    chosen = cast("dict[str, Any]", answer).get("title") if isinstance(answer, dict) else None
    if chosen != TRUST:
        return
    try:
        await _remember(connection, folder, trusted=True)
    except Refusal as refused:
        show_message(connection.rpc, "error", f"codelaw: {refused.message}")


async def _remember(connection: Connection, root: Path, *, trusted: bool) -> None:
    try:
        await asyncio.to_thread(set_trust, connection.home, root, trusted=trusted)
    except OSError as error:
        message = f"It cannot be remembered whether {root} is trusted: {error}"
        raise Refusal("store_unavailable", message, "See whether the data folder is writable.") from error
    await connection.reload()


def _folder(connection: Connection, named: str) -> Folder:
    """The workspace folder with that uri or path."""
    path = path_of(named) if "://" in named else Path(named)
    folders = connection.folders.resolve()
    real = Path(os.path.realpath(path)) if path is not None and path.is_absolute() else None
    for folder in folders:
        if folder.root == real:
            return folder
    known = ", ".join(str(folder.root) for folder in folders) or "none"
    raise Refusal("folder_not_found", f"{named} is no folder of this workspace.", f"Its folders are: {known}.")
