"""What a chat did to files, over the wire (E-1)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.lsp.raw import RawClient

CHANGES = "codelaw/chat/changes"
REVIEWED = "codelaw/chat/reviewed"
A = "file:///w/a.py"


@pytest.fixture
async def chat(client: RawClient) -> str:
    return (await client.request("codelaw/chat/create", {}))["id"]


async def test_what_a_chat_changed_is_listed_and_read(client: RawClient, chat: str):
    change = {"turnId": "t1", "uri": A, "path": "a.py", "kind": "modified", "number": 7, "isText": True}
    moved = {**change, "uri": "file:///w/c.py", "path": "c.py", "kind": "created", "number": 8, "renamedFrom": "b.py"}
    assert await client.request(CHANGES, {"chatId": chat}) == {"changes": [change, moved], "total": 2}
    reported = {"path": "a.py", "before": "old\n", "after": "new\n", "number": 7, "isText": True, "redacted": False}
    assert await client.request(REVIEWED, {"chatId": chat, "uri": A}) == reported
    assert await client.request(REVIEWED, {"chatId": chat, "uri": A, "above": 6}) == reported


@pytest.mark.parametrize(
    ("method", "asked", "code"),
    [
        (CHANGES, {"chatId": "nope"}, "chat_not_found"),
        (REVIEWED, {"uri": "file:///w/b.py"}, "nothing_to_undo"),
        (REVIEWED, {"uri": A, "above": 7}, "nothing_to_undo"),
    ],
)
async def test_what_there_is_not_is_refused(client: RawClient, chat: str, method: str, asked: dict, code: str):
    refused = await client.error(method, {"chatId": chat, **asked})
    assert (refused.code, refused.data["code"]) == (-32803, code)


@pytest.mark.parametrize(
    ("asked", "path"),
    [({"uri": ""}, "uri"), ({"uri": A, "above": -1}, "above"), ({"uri": A, "above": 2**60}, "above"), ({}, "uri")],
)
async def test_wrong_params_are_named(client: RawClient, chat: str, asked: dict[str, Any], path: str):
    wrong = await client.error(REVIEWED, {"chatId": chat, **asked})
    assert wrong.code == -32602
    assert [error["path"] for error in wrong.data["errors"]] == [path]
