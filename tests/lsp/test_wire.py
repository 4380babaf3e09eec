"""Nothing on the wire goes unanswered, whatever is sent (V-2)."""

from __future__ import annotations

import json

import pytest

from tests.lsp.raw import RawClient


async def answered(client: RawClient, body: str | bytes, request_id: object = None) -> dict:
    """The error that a body gets; the server must be well afterwards."""
    start = len(client.messages)
    await client.send_body(body)
    found = await client.until(lambda message: "error" in message and message["id"] == request_id, start)
    assert (await client.request("codelaw/chat/list", {})) == {"chats": []}
    return found["error"]


@pytest.mark.parametrize(
    "body",
    [
        '{"jsonrpc": "2.0", "id": 1, "method": ',
        "not json",
        "",
        b"\xff\xfe\x00",
        '{"jsonrpc": "2.0", "id": 1, "method": "codelaw/model/list", "params": {"x": NaN}}',
        "[" * 100_000,
        '{"jsonrpc": "2.0", "id": ' + "9" * 5000 + ', "method": "x"}',
    ],
    ids=["cut", "words", "empty", "bytes", "nan", "deep", "number"],
)
async def test_what_is_no_json_is_a_parse_error(client: RawClient, body: str | bytes) -> None:
    assert (await answered(client, body))["code"] == -32700


@pytest.mark.parametrize(
    ("body", "request_id"),
    [
        ('[{"jsonrpc": "2.0", "id": 5, "method": "codelaw/model/list"}]', None),
        ('{"jsonrpc": "2.0", "id": 5, "method": "x", "params": ' + "[" * 100_000, 5),
        ("[]", None),
        ('"text"', None),
        ("null", None),
        ("{}", None),
        ('{"jsonrpc": "1.0", "id": 5, "method": "codelaw/model/list"}', 5),
        ('{"id": 5, "method": "codelaw/model/list"}', 5),
        ('{"jsonrpc": "2.0", "id": 5, "method": 7}', 5),
        ('{"jsonrpc": "2.0", "id": 5, "method": "codelaw/model/list", "params": "x"}', 5),
        ('{"jsonrpc": "2.0", "id": 5}', 5),
        ('{"jsonrpc": "2.0", "id": null, "method": "codelaw/model/list"}', None),
        ('{"jsonrpc": "2.0", "id": [1], "method": "codelaw/model/list"}', None),
        ('{"jsonrpc": "2.0", "id": true, "method": "codelaw/model/list"}', None),
    ],
    ids=lambda value: value[:60] if isinstance(value, str) else None,
)
async def test_what_is_no_request_is_refused(client: RawClient, body: str, request_id: object) -> None:
    assert (await answered(client, body, request_id))["code"] == -32600


async def test_responses_to_nothing_are_ignored(client: RawClient) -> None:
    start = len(client.messages)
    await client.send({"jsonrpc": "2.0", "id": "unknown", "result": 1})
    await client.send({"jsonrpc": "2.0", "id": 99, "error": {"code": 1, "message": "x"}})
    await client.send({"jsonrpc": "2.0", "id": "codelaw-1", "result": "answered twice"})
    assert await client.request("codelaw/chat/list", {}) == {"chats": []}
    assert not [message for message in client.messages[start:] if "error" in message]


async def test_headers_in_any_case_and_garbage_between_messages(client: RawClient) -> None:
    request = {"jsonrpc": "2.0", "id": "a", "method": "codelaw/chat/list"}
    future = client.expect("a")
    await client.send_body(json.dumps(request), header="CONTENT-length")
    assert (await client.wait_for(future))["result"] == {"chats": []}
    start = len(client.messages)
    await client.send_bytes(b"this is not a header\r\n\r\n")
    error = await client.until(lambda message: "error" in message, start)
    assert (error["id"], error["error"]["code"]) == (None, -32700)
    assert await client.request("codelaw/chat/list", {}) == {"chats": []}


async def test_a_refusal_carries_code_message_and_hint(client: RawClient) -> None:
    error = await client.error("codelaw/chat/read", {"chatId": "none"})
    assert error.code == -32803
    assert error.data == {"code": "chat_not_found", "message": "There is no chat none", "hint": "List the chats"}


@pytest.mark.parametrize(
    ("method", "params", "path"),
    [
        ("codelaw/chat/send", {"text": "a", "attachments": [{"uri": "x"}, {}]}, "attachments[1].uri"),
        ("codelaw/chat/list", [1], ""),
    ],
)
async def test_bad_params_name_the_field(client: RawClient, method: str, params: object, path: str) -> None:
    error = await client.error(method, params)
    assert error.code == -32602
    assert path in [item["path"] for item in error.data["errors"]]
    twin = await client.error("workspace/executeCommand", {"command": method.replace("/", "."), "arguments": [params]})
    assert twin.code == -32602
    assert f"arguments[0].{path}".removesuffix(".") in [item["path"] for item in twin.data["errors"]]


@pytest.mark.parametrize(
    ("params", "path"),
    [
        (None, ""),
        ({}, "command"),
        ({"command": "codelaw.nothing"}, "command"),
        ({"command": "codelaw.chat.list", "arguments": {}}, "arguments"),
        ({"command": "codelaw.chat.list", "arguments": [{}, {}]}, "arguments"),
    ],
)
async def test_bad_commands_name_the_field(client: RawClient, params: object, path: str) -> None:
    error = await client.error("workspace/executeCommand", params)
    assert error.code == -32602
    assert [item["path"] for item in error.data["errors"]] == [path]


async def test_params_may_be_left_out_where_nothing_is_required(client: RawClient) -> None:
    await client.send({"jsonrpc": "2.0", "id": "a", "method": "codelaw/model/list"})
    assert (await client.until(lambda message: message.get("id") == "a"))["result"]["models"]
    assert await client.command("codelaw.chat.list") == {"chats": []}
    await client.send({"jsonrpc": "2.0", "id": "b", "method": "codelaw/chat/list", "params": None})
    assert (await client.until(lambda message: message.get("id") == "b"))["result"] == {"chats": []}


async def test_an_empty_lua_table_is_no_params(client: RawClient) -> None:
    assert await client.request("codelaw/chat/list", []) == {"chats": []}
    assert await client.command("codelaw.chat.list", []) == {"chats": []}


async def test_too_many_requests_at_once_are_refused_one_by_one(client: RawClient) -> None:
    for number in range(1000):
        await client.start("codelaw/chat/list", {"query": "slow"}, request_id=f"s{number}")
    assert (await client.error("codelaw/chat/list", {})).code == -32603
    await client.cancel("s0")
    await client.until(lambda message: message.get("id") == "s0")
    assert await client.request("codelaw/chat/list", {}) == {"chats": []}


async def test_unknown_methods(client: RawClient) -> None:
    assert (await client.error("codelaw/nothing", {})).code == -32601
    assert (await client.error("textDocument/nothing", {})).code == -32601
    assert (await client.error("$/nothing", {})).code == -32601
    start = len(client.messages)
    await client.notify("$/nothing", {})
    await client.notify("codelaw/nothing", {})
    assert await client.request("codelaw/chat/list", {}) == {"chats": []}
    assert not [message for message in client.messages[start:] if "error" in message]


async def test_bad_notifications_do_no_harm(client: RawClient) -> None:
    for params in ({}, {"textDocument": 7}, {"textDocument": {"uri": 1, "version": "x"}}):
        await client.notify("textDocument/didOpen", params)
        await client.notify("textDocument/didChange", params)
        await client.notify("$/cancelRequest", params)
        await client.notify("window/workDoneProgress/cancel", params)
    await client.notify("$/cancelRequest", [1])
    assert await client.request("codelaw/chat/list", {}) == {"chats": []}


async def test_a_bug_is_told_without_its_insides(client: RawClient) -> None:
    error = await client.error("codelaw/chat/list", {"query": "bug"})
    assert error.code == -32603
    assert "secret" not in str(error)
    assert "Traceback" not in str(error)
    assert await client.shut_down() == 0
    assert "the secret of the bug" in client.process.stderr
    assert "Traceback" in client.process.stderr


async def test_a_result_that_cannot_be_sent_is_an_internal_error(client: RawClient) -> None:
    await client.request("codelaw/chat/create", {})
    assert (await client.error("codelaw/chat/list", {"query": "unserialisable"})).code == -32603


async def test_an_id_that_is_still_in_use_is_refused(client: RawClient) -> None:
    request_id, first = await client.start("codelaw/chat/list", {"query": "slow"})
    start = len(client.messages)
    await client.send({"jsonrpc": "2.0", "id": request_id, "method": "codelaw/model/list"})
    refused = client.expect(request_id)
    assert (await client.wait_for(refused))["error"]["code"] == -32600
    again = client.expect(request_id)
    await client.cancel(request_id)
    assert (await client.wait_for(again))["error"]["code"] == -32800
    assert not first.done()
    assert len([message for message in client.messages[start:] if message.get("id") == request_id]) == 2


async def test_standard_output_belongs_to_messages(client: RawClient) -> None:
    result = await client.request("codelaw/chat/send", {"text": "print"})
    assert result["stopReason"] == "finished"
    assert await client.request("codelaw/chat/list", {"limit": 1})
    assert await client.shut_down() == 0
    for said in ("pollution", "more pollution", "pollution from C"):
        assert said in client.process.stderr


async def test_a_client_that_does_not_read_blocks_nobody(client: RawClient) -> None:
    """With the pipe to the client full, the server still takes and obeys what it is sent."""
    client.stop_reading()
    for number in range(20):
        message = {"jsonrpc": "2.0", "id": f"n{number}", "method": "codelaw/chat/send"}
        await client.send(message | {"params": {"text": "words " + "x" * 500_000}})
    await client.notify("exit")
    assert await client.process.wait() == 1
