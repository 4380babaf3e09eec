"""Undoing a turn over the wire (E-2)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.lsp.raw import NOTHING, RawClient

REVERT = "codelaw/chat/revert"
CHECKPOINT = "codelaw/chat/checkpoint"
A = "file:///w/a.py"
CONFLICT = {"uri": "file:///w/b.py", "reason": "b.py was removed since."}


@pytest.fixture
async def chat(client: RawClient) -> str:
    return (await client.request("codelaw/chat/create", {}))["id"]


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ({}, {"reverted": [A], "conflicts": []}),
        ({"files": None, "messages": None}, {"reverted": [A], "conflicts": []}),
        ({"files": True, "messages": True}, {"reverted": [A], "conflicts": [CONFLICT]}),
        ({"files": False, "messages": True}, {"reverted": [], "conflicts": []}),
    ],
)
async def test_a_turn_is_undone_by_method_and_by_command(client: RawClient, chat: str, asked: dict, answer: dict):
    params = {"chatId": chat, "turnId": "t1", **asked}
    assert await client.request(REVERT, params) == answer
    assert await client.command("codelaw.chat.revert", params) == answer


async def test_a_checkpoint_is_looked_at_restored_and_undone(client: RawClient, chat: str):
    asked = {"chatId": chat, "turnId": "t1"}
    lost = {"changed": True, "lost": "b.py was changed since."}
    files = [
        {"uri": "file:///w/b.py", "path": "b.py", "does": "modify", **lost},
        {"uri": A, "path": "a.py", "does": "delete", "changed": False},
    ]
    nothing = {"restored": [], "conflicts": []}
    assert await client.request(CHECKPOINT, asked) == {"files": files, **nothing, "undoable": False}
    again = {**asked, "restore": True, "overwrite": [A, A]}
    assert await client.request(CHECKPOINT, again) == {
        "files": files,
        "restored": [A],
        "conflicts": [],
        "undoable": True,
    }
    refused = await client.error(CHECKPOINT, {**asked, "undo": True})
    assert (refused.code, refused.data["code"]) == (-32803, "nothing_to_undo")
    wrong = await client.error(CHECKPOINT, {**asked, "restore": 1, "overwrite": "all"})
    assert [error["path"] for error in wrong.data["errors"]] == ["restore", "overwrite"]


async def test_a_client_without_events_is_told_by_a_message(fresh: RawClient):
    await fresh.initialize(NOTHING)
    made = await fresh.request("codelaw/chat/create", {})
    params = {"chatId": made["id"], "turnId": "t1", "messages": True}
    await fresh.command("codelaw.chat.revert", params)
    reported = await fresh.method("window/showMessage")
    assert reported == {"type": 2, "message": "1 file undone. Left alone: b.py was removed since."}


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"turnId": "t2"}, "turn_not_found"),
        ({"files": False}, "nothing_to_undo"),
        ({"chatId": "nope"}, "chat_not_found"),
    ],
)
async def test_what_cannot_be_undone_is_refused(client: RawClient, chat: str, asked: dict[str, Any], code: str):
    refused = await client.error(REVERT, {"chatId": chat, "turnId": "t1", **asked})
    assert (refused.code, refused.data["code"]) == (-32803, code)


@pytest.mark.parametrize(
    ("asked", "path"),
    [({"turnId": ""}, "turnId"), ({"turnId": 7}, "turnId"), ({"files": "yes"}, "files"), ({"file": True}, "file")],
)
async def test_wrong_params_are_named(client: RawClient, chat: str, asked: dict[str, Any], path: str):
    wrong = await client.error(REVERT, {"chatId": chat, "turnId": "t1", **asked})
    assert wrong.code == -32602
    assert [error["path"] for error in wrong.data["errors"]] == [path]


async def test_a_cancelled_revert_is_answered_as_cancelled(client: RawClient, chat: str):
    request_id, future = await client.start(REVERT, {"chatId": chat, "turnId": "slow"})
    await client.cancel(request_id)
    assert (await client.wait_for(future))["error"]["code"] == -32800
