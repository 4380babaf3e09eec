"""Undoing a turn with the real server: in the editor where a document is open, after a restart, after kill -9 (E-2)."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor
from tests.lsp.desk_editor import DeskEditor, editing
from tests.scenarios.conftest import Start, finish
from tests.scenarios.test_edits import desk, edit, read, turn, write

REVERT = "codelaw/chat/revert"
CHECKPOINT = "codelaw/chat/checkpoint"
THOROUGH = bool(os.environ.get("CODELAW_TEST_THOROUGH"))
MOMENTS = (0, 20, 60, 150, 400) if THOROUGH else (0, 60, 400)
"""Milliseconds from the beginning of a turn to the death of the server: before, within and after its edits."""
LINES = "".join(f"line {number} 😀\n" for number in range(30))


async def revert(editor: DeskEditor, result: dict[str, Any], **more: Any) -> dict[str, Any]:
    return await editor.client.request(REVERT, {"chatId": result["chatId"], "turnId": result["turnId"], **more})


async def test_an_open_document_is_undone_in_the_editor_over_what_was_typed(
    start: Start, vendor: LoopbackVendor, root: Path
):
    (root / "a.py").write_text(LINES)
    async with desk(start) as editor:
        document = await editor.open(root / "a.py")
        replies = (edit("line 5 😀", "LINE 5 🎉"), edit("line 20 😀\\n", ""), edit("LINE 5", "Line five"))
        result = await turn(editor, vendor, read(), *(VendorReply(text=one.text) for one in replies))
        await editor.type(document, 0, 0, "typed 🧪\n")
        await editor.type(document, len(document.text), len(document.text), "at the end")
        answer = await revert(editor, result)
        assert answer == {"reverted": [document.uri], "conflicts": []}
        assert document.text == "typed 🧪\n" + LINES + "at the end"
        assert (root / "a.py").read_text() == LINES, "the disk is the user's to save"
        assert editor.applied[-1]["label"] == "codelaw: Undo in a.py"
        [notice] = [event for event in editor.client.events() if event["event"].get("code") == "reverted"]
        assert notice["turnId"] == result["turnId"]
        assert notice["event"]["message"] == "Undone in a.py."
        refused = await editor.client.error(REVERT, {"chatId": result["chatId"], "turnId": result["turnId"]})
        assert (refused.code, refused.data["code"]) == (-32803, "nothing_to_undo")


async def test_one_file_of_a_turn_is_undone_and_the_rest_stays_listed(start: Start, vendor: LoopbackVendor, root: Path):
    names = ("a #1%20.py", "b.py")
    for name in names:
        (root / name).write_text(LINES)
    async with desk(start) as editor:
        calls = [reply for name in names for reply in (read(name), edit("line 3 ", "LINE 3 ", name))]
        result = await turn(editor, vendor, *calls, write("new\n", "c.py"))
        chat = {"chatId": result["chatId"]}
        listed = await editor.client.request("codelaw/chat/changes", chat)
        assert [(one["path"], one["kind"]) for one in listed["changes"]] == [
            (names[0], "modified"), ("b.py", "modified"), ("c.py", "created"),
        ]  # fmt: skip
        one, two, _ = (change["uri"] for change in listed["changes"])
        shown = await editor.client.request("codelaw/chat/reviewed", {**chat, "uri": one})
        assert (shown["before"], shown["after"]) == (LINES, LINES.replace("line 3 ", "LINE 3 "))
        assert await revert(editor, result, uris=[one]) == {"reverted": [one], "conflicts": []}
        assert ((root / names[0]).read_text(), "LINE 3 " in (root / "b.py").read_text()) == (LINES, True)
        refused = await editor.client.error(REVERT, {**chat, "turnId": result["turnId"], "uris": [one]})
        assert refused.data["code"] == "nothing_to_undo"
        left = await editor.client.request("codelaw/chat/changes", chat)
        assert [change["path"] for change in left["changes"]] == ["b.py", "c.py"]
        above = listed["changes"][1]["number"]
        gone = await editor.client.error("codelaw/chat/reviewed", {**chat, "uri": two, "above": above})
        assert gone.data["code"] == "nothing_to_undo"
        assert len((await revert(editor, result))["reverted"]) == 2
        notices = [event["event"] for event in editor.client.events() if event["event"]["kind"] == "notice"]
        assert [notice["code"] for notice in notices] == ["files_reverted", "reverted"]
        assert (await editor.client.request("codelaw/chat/changes", chat))["total"] == 0


async def test_an_open_document_is_restored_in_the_editor_and_that_is_undone(
    start: Start, vendor: LoopbackVendor, root: Path
):
    (root / "a.py").write_text(LINES)
    async with desk(start) as editor:
        document = await editor.open(root / "a.py")
        first = await turn(editor, vendor, read(), edit("line 5 😀", "LINE 5 🎉"))
        chat = first["chatId"]
        await turn(editor, vendor, edit("LINE 5", "Line five"), write("new\n", "b.py"), chat=chat)
        await editor.type(document, 0, 0, "typed 🧪\n")
        asked = {"chatId": chat, "turnId": first["turnId"]}
        found = await editor.client.request(CHECKPOINT, asked)
        assert found == {
            "files": [
                {"uri": (root / "b.py").as_uri(), "path": "b.py", "does": "delete", "changed": False},
                {"uri": document.uri, "path": "a.py", "does": "modify", "changed": True},
            ],
            "restored": [],
            "conflicts": [],
            "undoable": False,
        }
        done = await editor.client.request(CHECKPOINT, {**asked, "restore": True})
        assert (set(done["restored"]), done["undoable"]) == ({document.uri, (root / "b.py").as_uri()}, True)
        assert document.text == "typed 🧪\n" + LINES
        assert not (root / "b.py").exists()
        await editor.type(document, len(document.text), len(document.text), "at the end")
        await editor.client.request(CHECKPOINT, {**asked, "undo": True})
        assert document.text == "typed 🧪\n" + LINES.replace("line 5 😀", "Line five 🎉") + "at the end"
        assert (root / "b.py").read_text() == "new\n"
        await editor.type(document, 0, len(document.text), "all mine")
        lost = (await editor.client.request(CHECKPOINT, asked))["files"][-1]["lost"]
        assert lost.startswith("a.py was changed since at the same place")
        forced = await editor.client.request(CHECKPOINT, {**asked, "restore": True, "overwrite": [document.uri]})
        assert document.uri in forced["restored"]
        assert document.text == LINES
        await editor.client.request(CHECKPOINT, {**asked, "undo": True})
        assert document.text == "all mine"
        refused = await editor.client.error(CHECKPOINT, {**asked, "undo": True})
        assert (refused.code, refused.data["code"]) == (-32803, "nothing_to_undo")


async def test_an_editor_that_will_not_is_a_conflict_and_later_it_goes_on(
    start: Start, vendor: LoopbackVendor, root: Path
):
    async with desk(start) as editor:
        manners: tuple[Any, ...] = ("refuses", "fails", "null", "nonsense")
        for manner in manners:
            one, two = f"{manner}.py", f"{manner}_too.py"
            (root / one).write_text(LINES)
            (root / two).write_text(LINES)
            document = await editor.open(root / one)
            other = [read(two), edit("line 1 ", "LINE 1 ", two)]
            result = await turn(editor, vendor, read(one), edit("line 3 ", "LINE 3 ", one), *other)
            changed = document.text
            editor.manner = manner
            answer = await revert(editor, result)
            assert [conflict["uri"] for conflict in answer["conflicts"]] == [document.uri], manner
            assert answer["reverted"] == [(root / two).as_uri()]
            assert (document.text, (root / two).read_text()) == (changed, LINES)
            editor.manner = "well"
            assert (await revert(editor, result))["reverted"] == [document.uri], manner
            assert document.text == LINES


@pytest.mark.parametrize("milliseconds", MOMENTS)
async def test_a_kill_at_any_moment_of_the_turn_or_of_the_revert(
    start: Start, vendor: LoopbackVendor, root: Path, milliseconds: int
):
    names = [f"{number}.py" for number in range(6)]
    for name in names[:3]:
        (root / name).write_text(LINES)
    before = {path.name: path.read_text() for path in root.iterdir()}
    calls = [reply for name in names[:3] for reply in (read(name), edit("line 7 ", "LINE 7 ", name))]
    calls += [write(name, name) for name in names[3:]]
    async with start({"experimental": {"codelaw": {"events": {}, "approvals": {}}}}) as client:
        DeskEditor(client)  # answers questions
        vendor.play(*calls, VendorReply(text=finish("done")))
        await client.start("codelaw/chat/send", {"text": "go"})
        started = await client.event("turn_started")
        await asyncio.sleep(milliseconds / 1000)
        assert client.process is not None
        await client.process.kill()
    asked = {"chatId": started["chatId"], "turnId": started["turnId"]}
    for wait in (milliseconds / 4000, None):
        async with start(editing()) as client:
            if wait is None:
                response = await client.response(REVERT, asked)
                assert response.get("result", {"conflicts": []})["conflicts"] == []
                assert "result" in response or response["error"]["data"]["code"] == "nothing_to_undo"
                continue
            await client.start(REVERT, asked)
            await asyncio.sleep(wait)
            assert client.process is not None
            await client.process.kill()
    # A temporary file is left where a write was cut in two; it is nobody's text.
    assert {path.name: path.read_text() for path in root.iterdir() if not path.name.startswith(".codelaw-")} == before
