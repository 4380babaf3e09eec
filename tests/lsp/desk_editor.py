"""An editor over a raw client: it holds documents, applies versioned edits, and can behave badly."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from codelaw.lsp.documents.positions import Encoding, line_starts, offset, units
from tests.lsp.raw import NO_ANSWER, RawClient, RpcError

Manner = Literal[
    "well", "refuses", "lies", "silent", "closes", "fails", "late", "merges", "splits", "on_top", "nonsense", "null"
]
"""How it treats an edit. `late`: told of after the answer; `merges`: told of together with a keystroke behind it;
`splits`: told of part by part; `on_top`: makes it although the user has typed since."""


def editing(*, save: bool = False, review: bool = False, encoding: Encoding = "utf-16") -> dict[str, Any]:
    """Capabilities of a client that applies edits."""
    edit: dict[str, Any] = {"documentChanges": True}
    if review:
        edit["changeAnnotationSupport"] = {"groupsOnLabel": True}
    editor: dict[str, Any] = {"save": {}} if save else {}
    return {
        "workspace": {"applyEdit": True, "workspaceEdit": edit},
        "general": {"positionEncodings": [encoding]},
        "experimental": {"codelaw": {"events": {}, "approvals": {}, "editor": editor}},
    }


@dataclass
class Document:
    uri: str
    path: Path | None
    text: str
    version: int


@dataclass
class DeskEditor:
    """Answers `workspace/applyEdit` and `codelaw/editor/save`; `type` is the user at the keyboard."""

    client: RawClient
    encoding: Encoding = "utf-16"
    manner: Manner = "well"
    documents: dict[str, Document] = field(default_factory=dict)
    applied: list[dict[str, Any]] = field(default_factory=list)
    saved: list[str] = field(default_factory=list)
    formatter: Callable[[str], str] | None = None
    counts: bool = True
    """Whether versions rise, as they should."""
    takes: Callable[[int], bool] = lambda _: True
    """Which parts of a reviewed edit the user accepts."""
    before_edit: Callable[[], Awaitable[None]] | None = None

    def __post_init__(self) -> None:
        self.client.answers["workspace/applyEdit"] = self._apply
        self.client.answers["codelaw/editor/save"] = self._save_all
        self.client.answers["codelaw/approval/request"] = _allow

    async def open(self, where: Path | str, text: str | None = None, version: int = 1) -> Document:
        path = where if isinstance(where, Path) else None
        if text is None:
            assert path is not None
            text = path.read_bytes().decode()
        uri = await self.client.open(where, text, version)
        self.documents[uri] = Document(uri, path, text, version)
        return self.documents[uri]

    async def close(self, document: Document) -> None:
        del self.documents[document.uri]
        await self.client.notify("textDocument/didClose", {"textDocument": {"uri": document.uri}})

    async def type(self, document: Document, start: int, end: int, text: str) -> None:
        """Replace a part of the text, as a person does."""
        change = self._change(document, start, end, text)
        document.version += self.counts
        await self._report(document, [change])

    async def save(self, document: Document) -> None:
        """As Ctrl-S does, the formatter first."""
        assert document.path is not None
        identifier = {"textDocument": {"uri": document.uri}}
        await self.client.notify("textDocument/willSave", {**identifier, "reason": 1})
        await self._format(document)
        document.path.write_bytes(document.text.encode())
        await self.client.notify("textDocument/didSave", identifier)

    async def _format(self, document: Document) -> None:
        if self.formatter is not None and (formed := self.formatter(document.text)) != document.text:
            await self.type(document, 0, len(document.text), formed)

    async def _save_all(self, params: dict[str, Any]) -> dict[str, Any]:
        for uri in params["uris"]:
            document = self.documents[uri]
            assert document.path is not None
            await self._format(document)
            document.path.write_bytes(document.text.encode())
            self.saved.append(uri)
        return {"saved": params["uris"]}

    async def _apply(self, params: dict[str, Any]) -> Any:
        self.applied.append(params)
        if self.before_edit is not None:
            await self.before_edit()
        [change] = params["edit"]["documentChanges"]
        document = self.documents.get(change["textDocument"]["uri"])
        if self.manner == "silent":
            return NO_ANSWER
        if self.manner == "nonsense":
            return ["what"]
        if self.manner == "null":
            return None
        if self.manner == "fails":
            return RpcError({"code": -32603, "message": "no such luck"})
        if self.manner == "closes" and document is not None:
            await self.close(document)
            return {"applied": True}
        wrong = document is None or (document.version != change["textDocument"]["version"] and self.manner != "on_top")
        if self.manner == "refuses" or wrong:
            return {"applied": False, "failureReason": "the document has changed"}
        assert document is not None
        if self.manner == "lies":
            return {"applied": True}
        await self._make(document, change["edits"])
        return {"applied": True} if any(map(self.takes, range(len(change["edits"])))) else {"applied": False}

    async def _make(self, document: Document, edits: list[dict[str, Any]]) -> None:
        starts = line_starts(document.text)

        def place(position: dict[str, int]) -> int:
            return offset(document.text, starts, position["line"], position["character"], self.encoding)

        wanted = [
            (place(edit["range"]["start"]), place(edit["range"]["end"]), edit["newText"])
            for number, edit in enumerate(edits)
            if self.takes(number)
        ]
        if not wanted:
            return
        changes = [self._change(document, *one) for one in sorted(wanted, reverse=True)]
        if self.manner == "splits":
            for change in changes:
                document.version += self.counts
                await self._report(document, [change])
            return
        document.version += self.counts
        if self.manner == "merges":
            changes.append(self._change(document, 0, 0, "typed right behind\n"))
        if self.manner == "late":
            task = asyncio.create_task(self._later(document, document.version, changes))
            self.client._answering.add(task)
            task.add_done_callback(self.client._answering.discard)
            return
        await self._report(document, changes)

    async def _later(self, document: Document, version: int, changes: list[dict[str, Any]]) -> None:
        await asyncio.sleep(0.2)
        await self._report(document, changes, version)

    def _change(self, document: Document, start: int, end: int, text: str) -> dict[str, Any]:
        starts = line_starts(document.text)

        def position(place: int) -> dict[str, int]:
            line = max(number for number, first in enumerate(starts) if first <= place)
            return {"line": line, "character": units(document.text[starts[line] : place], self.encoding)}

        change = {"range": {"start": position(start), "end": position(end)}, "text": text}
        document.text = document.text[:start] + text + document.text[end:]
        return change

    async def _report(self, document: Document, changes: list[dict[str, Any]], version: int | None = None) -> None:
        identifier = {"uri": document.uri, "version": document.version if version is None else version}
        await self.client.notify("textDocument/didChange", {"textDocument": identifier, "contentChanges": changes})


def _allow(params: dict[str, Any]) -> dict[str, str]:
    return {"optionId": next(option["id"] for option in params["options"] if option["kind"] == "allow_once")}
