"""An editor's buffer beside a raw client: it takes `workspace/applyEdit`, and somebody types in it.

It counts places by itself, so that a mistake of the server's is not made here as well.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable
from typing import Any

from tests.lsp.raw import PATIENCE, RawClient

WIDTHS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}

EDITING: dict[str, Any] = {
    "window": {"workDoneProgress": True, "showDocument": {"support": True}},
    "workspace": {
        "applyEdit": True,
        "workspaceEdit": {"documentChanges": True},
        "codeLens": {"refreshSupport": True},
        "workspaceFolders": True,
    },
    "textDocument": {
        "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["", "quickfix", "refactor"]}}},
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
    },
    "general": {"positionEncodings": ["utf-16"]},
}
"""Capabilities of an editor that knows nothing of codelaw."""


def editing(encoding: str = "utf-16", *, pinned: bool = True, **workspace: Any) -> dict[str, Any]:
    """`EDITING` with another encoding, or without versions of edits."""
    made = copy.deepcopy(EDITING)
    made["general"]["positionEncodings"] = [encoding]
    made["workspace"] |= workspace
    if not pinned:
        del made["workspace"]["workspaceEdit"]
    return made


class Pad:
    """One open document."""

    def __init__(self, client: RawClient, uri: str, text: str, *, encoding: str = "utf-16") -> None:
        self.client = client
        self.uri = uri
        self.text = text
        self.version = 0
        self.codec, self.width = WIDTHS[encoding]
        self.edits: list[dict[str, Any]] = []
        """The params of every edit that was asked for."""
        self.refused = 0
        self.open = False
        self.refuse: Callable[[], bool] = lambda: False
        self.lie: Callable[[], bool] = lambda: False
        """Say that an edit was applied, and do nothing."""
        self.texts: list[str] = []
        client.answers["workspace/applyEdit"] = self._apply
        client.answers["workspace/codeLens/refresh"] = None
        client.answers["window/showDocument"] = {"success": True}

    async def show(self) -> None:
        """`didOpen`."""
        self.version += 1
        self.open = True
        item = {"uri": self.uri, "languageId": "markdown", "version": self.version, "text": self.text}
        await self.client.notify("textDocument/didOpen", {"textDocument": item})

    async def hide(self) -> None:
        """`didClose`."""
        self.open = False
        await self.client.notify("textDocument/didClose", {"textDocument": {"uri": self.uri}})

    async def save(self) -> None:
        """`didSave`."""
        await self.client.notify("textDocument/didSave", {"textDocument": {"uri": self.uri}})

    async def type(self, text: str, *, after: str | None = None, at: int | None = None) -> None:
        """Somebody types: behind the last place of a text, or at an offset, or at the end."""
        place = at if at is not None else self.text.rindex(after) + len(after) if after else len(self.text)
        await self._change(place, place, text)

    async def delete(self, text: str) -> None:
        """Somebody deletes the last place of a text."""
        place = self.text.rindex(text)
        await self._change(place, place + len(text), "")

    async def until(self, wanted: Callable[[str], bool] | str) -> str:
        """Wait for a text of the document."""
        check: Callable[[str], bool] = (lambda text: wanted in text) if isinstance(wanted, str) else wanted
        async with asyncio.timeout(PATIENCE):
            while not check(self.text):
                await asyncio.sleep(0.01)
        return self.text

    async def send(self) -> Any:
        return await self.client.command("codelaw.chatFile.send", {"uri": self.uri})

    async def ended(self, count: int = 1) -> str:
        """Wait until that many blocks are whole."""
        return await self.until(
            lambda text: text.count("<!-- /turn ") >= count and " running -->" not in text and self.open
        )

    def position(self, offset: int) -> dict[str, int]:
        before = self.text[:offset].replace("\r\n", "\n")
        line = before.count("\n")
        return {"line": line, "character": self._units(before.rsplit("\n", 1)[-1])}

    def offset(self, position: dict[str, int]) -> int:
        lines = self.text.split("\n")
        assert position["line"] < len(lines), f"{position} is outside of {len(lines)} lines"
        line = lines[position["line"]].removesuffix("\r")
        start = sum(len(before) + 1 for before in lines[: position["line"]])
        encoded = line.encode(self.codec)
        assert position["character"] * self.width <= len(encoded), f"{position} is outside of {line!r}"
        return start + len(encoded[: position["character"] * self.width].decode(self.codec))

    def _units(self, text: str) -> int:
        return len(text.encode(self.codec)) // self.width

    async def _change(self, start: int, end: int, text: str) -> None:
        span = {"start": self.position(start), "end": self.position(end)}
        self.text = self.text[:start] + text + self.text[end:]
        self.version += 1
        self.texts.append(self.text)
        await self.client.notify(
            "textDocument/didChange",
            {
                "textDocument": {"uri": self.uri, "version": self.version},
                "contentChanges": [{"range": span, "text": text}],
            },
        )

    async def _apply(self, params: dict[str, Any]) -> dict[str, Any]:
        self.edits.append(params)
        edit = params["edit"]
        if "documentChanges" in edit:
            (change,) = edit["documentChanges"]
            assert change["textDocument"]["uri"] == self.uri
            if change["textDocument"]["version"] != self.version or not self.open:
                self.refused += 1
                return {"applied": False, "failureReason": "another version"}
            edits = change["edits"]
        else:
            ((uri, edits),) = edit["changes"].items()
            assert uri == self.uri
        if self.refuse():
            self.refused += 1
            return {"applied": False}
        if self.lie():
            self.refused += 1
            return {"applied": True}
        places = [
            (self.offset(one["range"]["start"]), self.offset(one["range"]["end"]), one["newText"]) for one in edits
        ]
        for start, end, text in sorted(places, reverse=True):
            await self._change(start, end, text)
        return {"applied": True}
