"""Forks and exports over the wire (D-2)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.lsp.raw import RawClient

FORK, EXPORT = "codelaw/chat/fork", "codelaw/chat/export"


@pytest.fixture
async def chat(client: RawClient) -> str:
    return (await client.request("codelaw/chat/create", {"title": "Sample", "mode": "plan"}))["id"]


@pytest.mark.parametrize("turn", ["t1", None])
async def test_a_chat_is_forked_by_method_and_by_command(client: RawClient, chat: str, turn: str | None):
    params = {"chatId": chat, "turnId": turn}
    one = await client.request(FORK, params)
    other = await client.command("codelaw.chat.fork", params)
    assert len({chat, one["id"], other["id"]}) == 3
    assert (one["title"], one["mode"]) == (other["title"], other["mode"]) == ("Sample (fork)", "plan")


@pytest.mark.parametrize("form", ["markdown", "json"])
async def test_a_chat_is_exported_by_method_and_by_command(client: RawClient, chat: str, form: str):
    params = {"chatId": chat, "format": form}
    assert await client.request(EXPORT, params) == {"text": f"Sample as {form}"}
    assert await client.command("codelaw.chat.export", params) == {"text": f"Sample as {form}"}


@pytest.mark.parametrize(
    ("method", "asked", "code"),
    [
        (FORK, {"turnId": "t9"}, "turn_not_found"),
        (FORK, {"chatId": "nope", "turnId": None}, "chat_not_found"),
        (EXPORT, {"chatId": "nope", "format": "json"}, "chat_not_found"),
    ],
)
async def test_what_is_not_there_is_refused(client: RawClient, chat: str, method: str, asked: dict, code: str):
    refused = await client.error(method, {"chatId": chat, **asked})
    assert (refused.code, refused.data["code"]) == (-32803, code)


@pytest.mark.parametrize(
    ("method", "asked", "path"),
    [
        (FORK, {}, "turnId"),
        (FORK, {"turnId": ""}, "turnId"),
        (FORK, {"turnId": None, "title": "x"}, "title"),
        (EXPORT, {}, "format"),
        (EXPORT, {"format": "html"}, "format"),
    ],
)
async def test_bad_params_name_the_field(client: RawClient, chat: str, method: str, asked: dict[str, Any], path: str):
    refused = await client.error(method, {"chatId": chat, **asked})
    assert refused.code == -32602
    assert [item["path"] for item in refused.data["errors"]] == [path]
