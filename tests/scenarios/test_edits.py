"""Edits of open documents over the real server: pinned to a version, seen to be made, never over a keystroke (F-4)."""

from __future__ import annotations

import asyncio
import json
import random
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor
from tests.lsp.desk_editor import DeskEditor, Manner, editing
from tests.scenarios.conftest import Start, act, finish


@asynccontextmanager
async def desk(start: Start, options: dict[str, Any] | None = None, **abilities: Any):
    async with start(editing(**abilities), options) as client:
        yield DeskEditor(client, abilities.get("encoding", "utf-16"))


def edit(old: str, new: str, path: str = "a.py", **more: Any) -> VendorReply:
    return VendorReply(text=act("Edit", json.dumps({"path": path, "old_string": old, "new_string": new, **more})))


def read(path: str = "a.py") -> VendorReply:
    return VendorReply(text=act("Read", json.dumps({"path": path})))


def write(content: str, path: str = "a.py") -> VendorReply:
    return VendorReply(text=act("Write", json.dumps({"path": path, "content": content})))


async def turn(editor: DeskEditor, vendor: LoopbackVendor, *replies: VendorReply, chat: str | None = None) -> Any:
    """One turn with these replies; gives its result."""
    vendor.play(*replies, VendorReply(text=finish("done")))
    params = {"text": "go"} if chat is None else {"text": "go", "chatId": chat}
    result = await editor.client.request("codelaw/chat/send", params)
    assert result["stopReason"] == "finished", result
    return result


async def observations(editor: DeskEditor, chat: str) -> list[dict[str, Any]]:
    """What the tools have answered, as the history keeps it."""
    record = await editor.client.request("codelaw/chat/read", {"chatId": chat})
    return [json.loads(message["content"]) for message in record["messages"] if message["role"] == "tool"]


async def test_an_edit_of_an_open_document_goes_through_the_editor(start: Start, vendor: LoopbackVendor, root: Path):
    (root / "a.py").write_text("x = 1\ny = 2\n")
    async with desk(start) as editor:
        document = await editor.open(root / "a.py", version=7)
        result = await turn(editor, vendor, read(), edit("x = 1", "x = 10"))
        [asked] = editor.applied
        [change] = asked["edit"]["documentChanges"]
        assert asked["label"] == "codelaw: Edit a.py"
        assert change["textDocument"] == {"uri": document.uri, "version": 7}
        zero = {"line": 0, "character": 5}
        assert change["edits"] == [{"range": {"start": zero, "end": zero}, "newText": "0"}]
        assert document.text == "x = 10\ny = 2\n"
        assert (root / "a.py").read_text() == "x = 1\ny = 2\n", "the disk is the user's to save"
        [_, done] = await observations(editor, result["chatId"])
        assert done["data"]["unsaved"] is True
        assert [change["kind"] for change in result["changes"]] == ["modified"]


@pytest.mark.parametrize(
    ("manner", "words"),
    [
        ("refuses", "refused"),
        ("lies", "has not changed"),
        ("closes", "closed"),
        ("fails", "no such luck"),
        ("nonsense", "no answer that makes sense"),
        ("null", "no answer that makes sense"),
    ],
)
async def test_an_editor_that_does_not_make_the_edit_is_a_conflict(
    start: Start, vendor: LoopbackVendor, root: Path, manner: Manner, words: str
):
    (root / "a.py").write_text("x = 1\n")
    async with desk(start) as editor:
        await editor.open(root / "a.py")
        editor.manner = manner
        result = await turn(editor, vendor, read(), edit("x = 1", "x = 2"))
        [_, refused] = await observations(editor, result["chatId"])
        assert refused["error"]["code"] == "CONFLICT"
        assert words in refused["error"]["message"]
        assert (root / "a.py").read_text() == "x = 1\n"
        assert result["changes"] == []


async def test_a_stop_withdraws_an_edit_that_is_not_answered(start: Start, vendor: LoopbackVendor, root: Path):
    (root / "a.py").write_text("x = 1\n")
    async with desk(start) as editor:
        document = await editor.open(root / "a.py")
        editor.manner = "silent"
        vendor.play(read(), edit("x = 1", "x = 2"), VendorReply(text=finish("done")))
        _, future = await editor.client.start("codelaw/chat/send", {"text": "go"})
        await editor.client.method("workspace/applyEdit")
        chat = (await editor.client.event("turn_started"))["chatId"]
        await editor.client.request("codelaw/chat/cancel", {"chatId": chat})
        assert (await editor.client.wait_for(future))["result"]["stopReason"] == "cancelled"
        assert editor.client.params("$/cancelRequest"), "the question is taken back"
        editor.manner = "well"
        assert document.text == "x = 1\n"
        result = await turn(editor, vendor, read(), edit("x = 1", "x = 3"), chat=chat)
        assert document.text == "x = 3\n"
        assert result["changes"]


async def test_documents_without_a_file_can_be_edited(start: Start, vendor: LoopbackVendor, root: Path):
    del root
    async with desk(start) as editor:
        document = await editor.open("untitled:Untitled-1", "hello\n")
        await turn(editor, vendor, read(document.uri), edit("hello", "hello 😀", document.uri))
        assert document.text == "hello 😀\n"


async def test_a_client_that_cannot_edit_gets_files_on_disk(start: Start, vendor: LoopbackVendor, root: Path):
    (root / "a.py").write_text("x = 1\n")
    async with start() as client:
        editor = DeskEditor(client)
        document = await editor.open(root / "a.py")
        await turn(editor, vendor, read(), edit("x = 1", "x = 2"))
        assert (root / "a.py").read_text() == "x = 2\n"
        await editor.type(document, 0, 0, "# mine\n")
        result = await turn(editor, vendor, read(), edit("x = 1", "x = 9"))
        *_, refused = await observations(editor, result["chatId"])
        assert refused["error"]["code"] == "CONFLICT", "unsaved work is not overwritten behind the editor's back"
        assert editor.applied == []


async def test_commands_see_the_edits_of_documents_that_were_clean(start: Start, vendor: LoopbackVendor, root: Path):
    (root / "a.py").write_text("x = 1\n")
    (root / "mine.py").write_text("m = 1\n")
    cat = VendorReply(text=act("Bash", '{"command": "cat a.py mine.py"}'))
    async with desk(start, save=True) as editor:
        clean = await editor.open(root / "a.py")
        mine = await editor.open(root / "mine.py")
        await editor.type(mine, 0, 0, "# not yet\n")
        editor.formatter = lambda text: text.replace("=  ", "= ")
        result = await turn(
            editor, vendor, read(), read("mine.py"), edit("x = 1", "x =  2"), edit("m = 1", "m = 2", "mine.py"), cat
        )
        *_, ran = await observations(editor, result["chatId"])
        assert editor.saved == [clean.uri], "what the user had not saved is not saved for them"
        assert ran["data"]["stdout"] == "x = 2\nm = 1"
        assert ran["data"]["unsaved"] == ["mine.py"]
        assert "changed" not in ran["data"], "a save, and the formatter in it, is not a change of the user's"
        result = await turn(editor, vendor, edit("x = 2", "x = 3"), chat=result["chatId"])
        *_, again = await observations(editor, result["chatId"])
        assert again["status"] == "success", "what the formatter made of an own edit needs no new Read"


async def test_what_the_user_saves_while_a_command_runs_is_not_undone_with_it(
    start: Start, vendor: LoopbackVendor, root: Path
):
    (root / "a.py").write_text("one\n")
    wait = VendorReply(text=act("Bash", '{"command": "touch begun; while [ ! -e go ]; do sleep 0.05; done"}'))
    async with desk(start, {"permissions": {"default": "allow"}}, save=True) as editor:
        document = await editor.open(root / "a.py")
        vendor.play(read(), wait, VendorReply(text=finish("done")))
        _, future = await editor.client.start("codelaw/chat/send", {"text": "go"})
        while not (root / "begun").exists():
            await asyncio.sleep(0.02)
        await editor.type(document, 0, 0, "typed\n")
        await editor.save(document)
        await editor.client.request("codelaw/chat/list", {})
        (root / "go").touch()
        result = (await editor.client.wait_for(future))["result"]
        params = {"chatId": result["chatId"], "turnId": result["turnId"]}
        await editor.client.response("codelaw/chat/revert", params)
        assert (root / "a.py").read_text() == "typed\none\n"


async def test_a_file_that_is_closed_under_review_is_not_written_unconfirmed(
    start: Start, vendor: LoopbackVendor, root: Path
):
    (root / "a.py").write_text(TEN)
    async with desk(start, REVIEW, review=True) as editor:
        document = await editor.open(root / "a.py")
        vendor.play(read(), edit("line 3", "line three"), VendorReply(text=finish("done")))
        editor.manner = "closes"
        result = await editor.client.request("codelaw/chat/send", {"text": "go"})
        [_, refused] = await observations(editor, result["chatId"])
        assert refused["error"]["code"] == "CONFLICT"
        assert document.uri not in editor.documents
        assert (root / "a.py").read_text() == TEN


REVIEW = {"editor": {"review": True}}
TEN = "".join(f"line {number}\n" for number in range(10))


async def test_under_review_each_part_is_confirmed_and_what_was_refused_is_told(
    start: Start, vendor: LoopbackVendor, root: Path
):
    (root / "a.py").write_text(TEN)
    async with desk(start, REVIEW, review=True) as editor:
        document = await editor.open(root / "a.py")
        editor.takes = lambda number: number == 1
        new = TEN.replace("line 1\n", "line one\n").replace("line 5\n", "line five\n").replace("line 8\n", "")
        result = await turn(editor, vendor, read(), write(new))
        [asked] = editor.applied
        [change] = asked["edit"]["documentChanges"]
        assert len(change["edits"]) == 3
        names = {part["annotationId"] for part in change["edits"]}
        assert {asked["edit"]["changeAnnotations"][name]["needsConfirmation"] for name in names} == {True}
        assert not editor.client.params("codelaw/approval/request"), "one question is enough"
        assert document.text == TEN.replace("line 5\n", "line five\n")
        [_, done] = await observations(editor, result["chatId"])
        assert done["status"] == "partial"
        assert "+line one" in done["data"]["refused"]
        assert "+line five" not in done["data"]["refused"]
        editor.takes = lambda _: True
        result = await turn(editor, vendor, edit("line five", "line 55"), chat=result["chatId"])
        assert "line 55" in document.text, "what was accepted is known, so the next edit needs no Read"


async def test_without_annotations_a_review_is_a_question(start: Start, vendor: LoopbackVendor, root: Path):
    (root / "a.py").write_text(TEN)
    async with desk(start, REVIEW) as editor:
        await editor.open(root / "a.py")
        await turn(editor, vendor, read(), edit("line 3", "line three"))
        [asked] = editor.client.params("codelaw/approval/request")
        assert "+line three" in asked["preview"]["diff"]


async def test_no_keystroke_is_lost_in_200_interleavings(start: Start, vendor: LoopbackVendor, root: Path):
    """A user types into the very document that the agent edits; every text must be the sum of what both did."""
    chance = random.Random(4)
    manners: list[Manner] = ["well", "well", "late", "merges", "splits"]
    outcomes: list[str] = []
    async with desk(start) as editor:
        for number in range(200):
            path = root / f"f{number}.py"
            path.write_text("".join(f"row {row}\n" for row in range(8)))
            document = await editor.open(path)
            editor.manner = chance.choice(manners)
            row = chance.randrange(8)
            typed: list[str] = []
            keys = [f"k{number}_{key};" for key in range(chance.randrange(4))]

            async def keystroke(document: Any = document, keys: list[str] = keys, typed: list[str] = typed) -> None:
                if keys and document.uri in editor.documents:
                    place = chance.choice([0, len(document.text), document.text.find("row 4")])
                    key = keys.pop()
                    typed.append(key)
                    await editor.type(document, max(place, 0), max(place, 0), key)

            editor.before_edit = keystroke if chance.random() < 0.5 else None
            vendor.play(
                read(path.name), edit(f"row {row}\n", f"agent {row}\n", path.name), VendorReply(text=finish("done"))
            )
            mark = len(editor.client.messages)
            _, future = await editor.client.start("codelaw/chat/send", {"text": "go"})
            chat = (await editor.client.event("turn_started", mark))["chatId"]
            if chance.random() < 0.6:
                await editor.client.event("tool_call", mark, tool="Read", status="completed")
                await keystroke()
            result = (await editor.client.wait_for(future))["result"]
            assert result["stopReason"] == "finished"
            [_, done] = await observations(editor, chat)
            made = done["status"] == "success"
            for key in typed:
                assert document.text.count(key) == 1, "no keystroke is lost"
            if made:
                assert f"agent {row}\n" in document.text
                assert f"row {row}\n" not in document.text
            else:
                assert f"agent {row}\n" not in document.text, "a refused edit changes nothing"
            outcomes.append(done.get("error", {}).get("code", "made"))
            assert path.read_text().startswith("row 0\n"), "the disk stays as it was"
            await editor.close(document)
    assert set(outcomes) == {"made", "CONFLICT"}
    assert 20 < outcomes.count("made") < 190
