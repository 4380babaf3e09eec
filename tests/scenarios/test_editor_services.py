"""An editor that shares its language servers, over the real server: find, rename, fix, and what is wrong (E-6)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor
from tests.lsp.raw import EVERYTHING, NO_ANSWER, RawClient
from tests.scenarios.conftest import Start, act, finish

NEW = ("Diagnostics[", "Definition[", "References[", "Rename[", "QuickFix[")


def everything(encoding: str = "utf-16") -> dict[str, Any]:
    """A client that declares every service, and edits pinned to versions."""
    editor = {"diagnostics": {}, "definition": {}, "references": {}, "rename": {}, "quickFix": {}, "save": {}}
    ours = {**EVERYTHING["experimental"]["codelaw"], "editor": editor}
    return {
        **EVERYTHING,
        "workspace": {**EVERYTHING["workspace"], "workspaceEdit": {"documentChanges": True}},
        "general": {"positionEncodings": [encoding]},
        "experimental": {"codelaw": ours},
    }


def span(line: int, start: int, end: int) -> dict[str, Any]:
    return {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}


def observed(vendor: LoopbackVendor) -> str:
    return json.dumps(vendor.messages[-1].json["messages"], ensure_ascii=False)


class Editor:
    """A client with one open document, which it changes as it is asked to."""

    def __init__(self, client: RawClient, path: Path) -> None:
        self.client = client
        self.path = path
        self.uri = path.as_uri()
        self.version = 4
        self.asked: list[dict[str, Any]] = []
        client.answers |= {"workspace/applyEdit": self.apply, "codelaw/approval/request": self.approve}

    async def open(self) -> None:
        await self.client.open(self.path, self.path.read_bytes().decode(), self.version)

    async def approve(self, params: dict[str, Any]) -> dict[str, str]:
        self.asked.append(params)
        return {"optionId": next(option["id"] for option in params["options"] if option["kind"] == "allow_once")}

    async def apply(self, params: dict[str, Any]) -> dict[str, Any]:
        """Take the edit, and tell of it: last part first, so that places stay true."""
        (change,) = params["edit"]["documentChanges"]
        if change["textDocument"] != {"uri": self.uri, "version": self.version}:
            return {"applied": False, "failureReason": "another version"}
        self.version += 1
        changes = [{"range": edit["range"], "text": edit["newText"]} for edit in reversed(change["edits"])]
        await self.client.notify(
            "textDocument/didChange",
            {"textDocument": {"uri": self.uri, "version": self.version}, "contentChanges": changes},
        )
        return {"applied": True}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
async def test_a_symbol_is_found_renamed_and_fixed_through_the_editor(
    start: Start, vendor: LoopbackVendor, root: Path, encoding: str
):
    before = {"utf-8": 8, "utf-16": 6, "utf-32": 5}[encoding]
    shown = root / "a.py"
    shown.write_bytes("'😀'; old()\r\nimport os\r\n".encode())
    (root / "src").mkdir()
    hidden = root / "src" / "b.py"
    hidden.write_text("def old(): pass\n")
    at = {"line": 1, "symbol": "old"}
    vendor.script = [
        VendorReply(text=act("Definition", json.dumps({"path": "a.py", **at}))),
        VendorReply(text=act("References", json.dumps({"path": "a.py", **at}))),
        VendorReply(text=act("Rename", json.dumps({"path": "a.py", **at, "new_name": "new"}))),
        VendorReply(text=act("QuickFix", '{"path": "a.py", "line": 2}')),
        VendorReply(text=act("Diagnostics", '{"path": "a.py"}')),
        VendorReply(text=finish("done")),
    ]
    async with start(everything(encoding)) as client:
        editor = Editor(client, shown)
        await editor.open()
        here = {"uri": editor.uri, "range": span(0, before, before + 3)}
        there = {"uri": hidden.as_uri(), "range": span(0, 4, 7)}
        positions: list[Any] = []

        def rename(params: dict[str, Any]) -> dict[str, Any]:
            positions.append(params["position"])
            return {
                "documentChanges": [
                    {
                        "textDocument": {"uri": editor.uri, "version": editor.version},
                        "edits": [{"range": here["range"], "newText": params["newName"]}],
                    },
                    {
                        "textDocument": {"uri": hidden.as_uri(), "version": None},
                        "edits": [{"range": there["range"], "newText": params["newName"]}],
                    },
                ]
            }

        def fix(params: dict[str, Any]) -> list[dict[str, Any]]:
            positions.append(params["range"])
            gone = {"start": {"line": 1, "character": 0}, "end": {"line": 2, "character": 0}}
            return [{"title": "Remove import", "edit": {"changes": {editor.uri: [{"range": gone, "newText": ""}]}}}]

        def diagnose(params: dict[str, Any]) -> list[dict[str, Any]]:
            found = [{"range": span(0, 0, 1), "message": "AFTERMARK", "severity": 1}] if params["version"] == 5 else []
            return [{**params, "diagnostics": found}]

        client.answers |= {
            "codelaw/editor/definition": [there],
            "codelaw/editor/references": [here, there],
            "codelaw/editor/rename": rename,
            "codelaw/editor/quickFix": fix,
            "codelaw/editor/diagnostics": diagnose,
        }
        result = await client.request("codelaw/chat/send", {"text": "tidy up"})
        assert result["stopReason"] == "finished"
        said = observed(vendor)
        assert "def old(): pass" in said
        assert "References old: 2 places" in said
        assert "Changed: 2 of 2 files." in said
        assert "AFTERMARK" in said, "what the rename has left wrong is told with its result"
        assert positions == [{"line": 0, "character": before}, span(1, 0, 9)]
        assert [params["tool"] for params in editor.asked] == ["Rename", "QuickFix"]
        assert "+'😀'; new()" in editor.asked[0]["preview"]["diff"]
        assert "+def new(): pass" in editor.asked[0]["preview"]["diff"]
        assert editor.version == 6, "the open document was changed by the editor itself"
        assert shown.read_bytes() == "'😀'; old()\r\nimport os\r\n".encode(), "and not behind its back"
        assert hidden.read_text() == "def new(): pass\n"
        asked = client.params("codelaw/editor/diagnostics")[-1]
        assert asked == {"uri": editor.uri, "version": 6}
        assert "Diagnostics a.py: 0 diagnostics; 0 errors" in said
        assert {change["path"] for change in result["changes"]} == {"a.py", "src/b.py"}
        turn = {"chatId": result["chatId"], "turnId": result["turnId"]}
        undone = await client.request("codelaw/chat/revert", turn)
        assert undone["conflicts"] == []
        assert set(undone["reverted"]) == {editor.uri, hidden.as_uri()}
        assert hidden.read_text() == "def old(): pass\n"
        assert editor.version == 7, "one step of the editor's undo for both changes of the document"


async def test_a_rename_that_would_touch_a_denied_file_is_denied_whole(
    start: Start, vendor: LoopbackVendor, root: Path
):
    (root / "a.py").write_text("old\n")
    (root / "secret").mkdir()
    (root / "secret" / "b.py").write_text("old\n")
    edits = [{"range": span(0, 0, 3), "newText": "new"}]
    call = act("Rename", '{"path": "a.py", "line": 1, "symbol": "old", "new_name": "new"}')
    vendor.script = [VendorReply(text=call), VendorReply(text=finish("ok"))]
    options = {"permissions": {"allow": ["Edit"], "deny": ["Edit(secret/**)"]}}
    async with start(everything(), options) as client:
        client.answers["codelaw/editor/rename"] = {
            "changes": {(root / "a.py").as_uri(): edits, (root / "secret" / "b.py").as_uri(): edits}
        }
        await client.request("codelaw/chat/send", {"text": "go"})
        ended = await client.event("tool_call", tool="Rename", status="rejected")
        assert ended["event"]["decision"]["rule"] == "Edit(secret/**)"
        assert client.params("codelaw/approval/request") == []
    assert [(root / name).read_text() for name in ("a.py", "secret/b.py")] == ["old\n", "old\n"]


async def test_a_cancel_withdraws_the_question_to_the_editor(start: Start, vendor: LoopbackVendor, root: Path):
    (root / "a.py").write_text("old\n")
    vendor.script = [VendorReply(text=act("References", '{"path": "a.py", "line": 1, "symbol": "old"}'))]
    async with start(everything()) as client:
        client.answers["codelaw/editor/references"] = NO_ANSWER
        request_id, future = await client.start("codelaw/chat/send", {"text": "go"})
        asked = await client.until(lambda message: message.get("method") == "codelaw/editor/references")
        await client.cancel(request_id)
        assert (await client.wait_for(future))["result"]["stopReason"] == "cancelled"
        assert await client.method("$/cancelRequest") == {"id": asked["id"]}
