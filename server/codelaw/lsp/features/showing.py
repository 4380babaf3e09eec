"""Files of ours in the data folder, shown in the editor."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from lsprotocol import types

from codelaw.lsp.client_calls.own_files import put
from codelaw.lsp.client_calls.showing import MESSAGE_CHARACTERS, show_message
from codelaw.lsp.transport.errors import ClientError, Disconnected

if TYPE_CHECKING:
    from codelaw.lsp.context import Context

log = logging.getLogger(__name__)


async def show(
    context: Context,
    file: Path,
    text: str,
    *,
    message: str | None = None,
    focus: bool = False,
    line: int | None = None,
    keep: int | None = None,
) -> str:
    """Write a file and show it; a client that shows none is told `message`, or the text, and where the file is.

    `line`, zero-based, is where the cursor goes. Gives the file's uri.
    """
    try:
        await put(file, text, keep=keep)
    except OSError as error:
        log.warning("A document could not be written: %s", error)
        show_message(context.rpc, "warning", _short(message or text))
        return file.as_uri()
    if context.client.documents:
        wanted: dict[str, Any] = {"uri": file.as_uri(), "takeFocus": focus}
        if line is not None:
            place = {"line": line, "character": 0}
            wanted["selection"] = {"start": place, "end": place}
        try:
            shown: Any = await context.rpc.request(types.WINDOW_SHOW_DOCUMENT, wanted)
        except (ClientError, Disconnected) as error:
            log.info("A document was not shown: %s", error)
        else:
            if isinstance(shown, dict) and cast("dict[str, Any]", shown).get("success") is True:
                return file.as_uri()
    show_message(context.rpc, "info", f"{_short(message or text)}\n\n{file}")
    return file.as_uri()


def _short(text: str) -> str:
    return text if len(text) <= MESSAGE_CHARACTERS else text[:MESSAGE_CHARACTERS] + "…"
