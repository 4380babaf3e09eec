"""What a session answers, as it is spelt on the wire: what chats did to files, servers, memories (B-6, D-2, E-1, E-2, X-3)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.lsp.raw import NOTHING, RawClient

SAVE, LIST, SEARCH = "codelaw/memory/save", "codelaw/memory/list", "codelaw/memory/search"
REVIEWED, REVERT, CHECKPOINT = "codelaw/chat/reviewed", "codelaw/chat/revert", "codelaw/chat/checkpoint"
A = "file:///w/a.py"
CONFLICT = {"uri": "file:///w/b.py", "reason": "b.py was removed since."}
ODD = {"name": "odd", "state": "needs_trust", "tools": 3, "message": "x", "source": ".mcp.json", "digest": "d1"}


@pytest.fixture
async def chat(client: RawClient) -> str:
    return (await client.request("codelaw/chat/create", {"title": "Sample", "mode": "plan"}))["id"]


async def test_what_a_chat_changed_is_listed_and_read(client: RawClient, chat: str):
    change = {"turnId": "t1", "uri": A, "path": "a.py", "kind": "modified", "number": 7, "isText": True}
    moved = {**change, "uri": "file:///w/c.py", "path": "c.py", "kind": "created", "number": 8, "renamedFrom": "b.py"}
    assert await client.request("codelaw/chat/changes", {"chatId": chat}) == {"changes": [change, moved], "total": 2}
    read = {"path": "a.py", "before": "old\n", "after": "new\n", "number": 7, "isText": True, "redacted": False}
    assert await client.request(REVIEWED, {"chatId": chat, "uri": A, "above": 6}) == read
    refused = await client.error(REVIEWED, {"chatId": chat, "uri": A, "above": 7})
    assert (refused.code, refused.data["code"]) == (-32803, "nothing_to_undo")


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ({"files": None, "messages": None}, {"reverted": [A], "conflicts": []}),
        ({"files": True, "messages": True}, {"reverted": [A], "conflicts": [CONFLICT]}),
        ({"files": False, "messages": True}, {"reverted": [], "conflicts": []}),
    ],
)
async def test_a_turn_is_undone_by_method_and_by_command(client: RawClient, chat: str, asked: dict, answer: dict):
    params = {"chatId": chat, "turnId": "t1", **asked}
    assert await client.request(REVERT, params) == answer
    assert await client.command("codelaw.chat.revert", params) == answer


async def test_a_client_without_events_is_told_what_was_undone(fresh: RawClient):
    await fresh.initialize(NOTHING)
    made = await fresh.request("codelaw/chat/create", {})
    await fresh.command("codelaw.chat.revert", {"chatId": made["id"], "turnId": "t1", "messages": True})
    said = await fresh.method("window/showMessage")
    assert said == {"type": 2, "message": "1 file undone. Left alone: b.py was removed since."}


async def test_a_checkpoint_is_looked_at_restored_and_undone(client: RawClient, chat: str):
    asked = {"chatId": chat, "turnId": "t1"}
    lost = {"changed": True, "lost": "b.py was changed since."}
    files = [
        {"uri": "file:///w/b.py", "path": "b.py", "does": "modify", **lost},
        {"uri": A, "path": "a.py", "does": "delete", "changed": False},
    ]
    found: dict[str, Any] = {"files": files, "restored": [], "conflicts": [], "undoable": False}
    assert await client.request(CHECKPOINT, asked) == found
    again = await client.request(CHECKPOINT, {**asked, "restore": True, "overwrite": [A, A]})
    assert again == {**found, "restored": [A], "undoable": True}
    assert (await client.error(CHECKPOINT, {**asked, "undo": True})).data["code"] == "nothing_to_undo"


async def test_a_chat_is_forked_and_exported(client: RawClient, chat: str):
    forked = await client.request("codelaw/chat/fork", {"chatId": chat, "turnId": None})
    assert (forked["title"], forked["mode"]) == ("Sample (fork)", "plan")
    assert forked["id"] != chat
    params = {"chatId": chat, "format": "json"}
    assert await client.command("codelaw.chat.export", params) == {"text": "Sample as json"}


async def test_servers_are_listed_let_start_and_begun_anew(client: RawClient):
    listed = await client.request("codelaw/mcp/list", {})
    ready = {"name": "desk", "state": "ready", "tools": 3, "source": ".mcp.json", "digest": "d1", "loggedIn": True}
    assert listed == {"servers": [ready, ODD], "problems": ["It is not JSON."]}
    enabled = await client.request("codelaw/mcp/enable", {"name": "odd", "enabled": True})
    assert enabled["servers"][1] == {**ODD, "state": "starting"}
    assert await client.command("codelaw.mcp.restart", {"name": "desk"}) == {"restarted": True}
    assert await client.request("codelaw/mcp/logout", {"name": "desk"}) == {"forgotten": False}
    seen = {"name": "desk", "enabled": True, "digest": "d1"}
    assert (await client.request("codelaw/mcp/enable", seen))["servers"][0]["ask"] is True
    declined = await client.request("codelaw/mcp/decline", {"name": "desk", "digest": "d1"})
    assert "ask" not in declined["servers"][0]


async def test_an_entry_is_saved_listed_found_changed_and_forgotten(client: RawClient):
    saved = await client.request(SAVE, {"text": "The user likes tea", "category": "preference", "confidence": 1})
    assert saved == {
        "id": "m1", "text": "The user likes tea", "category": "preference", "scope": "user", "belongsTo": "ann",
        "confidence": 1.0, "createdAt": 5.5, "uses": 0,
    }  # fmt: skip
    assert (await client.request(SAVE, {"text": "The user likes tea"}))["merged"] is True
    await client.request(SAVE, {"text": "Builds run on Sundays", "scope": "project"})
    first = await client.request(LIST, {"limit": 1})
    assert [one["id"] for one in first["memories"]] == ["m1"]
    rest = await client.request(LIST, {"cursor": first["nextCursor"]})
    assert ([one["id"] for one in rest["memories"]], "nextCursor" in rest) == (["m2"], False)
    (found,) = (await client.request(SEARCH, {"query": "Sundays"}))["memories"]
    assert (found["id"], found["similarity"], found["score"], found["relevance"]) == ("m2", 0.1235, 0.5, 0.12)
    changed = await client.request("codelaw/memory/update", {"id": "m2", "text": "Builds run daily", "scope": None})
    assert (changed["text"], changed["scope"]) == ("Builds run daily", "project")
    assert await client.request("codelaw/memory/forget", {"id": "m2"}) == {"forgotten": True}
    assert len((await client.request(LIST, {}))["memories"]) == 1
