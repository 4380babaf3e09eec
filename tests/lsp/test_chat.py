"""Turns over the wire: methods and their twins, cancelling, approvals, progress (R-8, S-2, V-5)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.lsp.raw import EVERYTHING, NO_ANSWER, NOTHING, RawClient, RpcError

SEND = "codelaw/chat/send"
DOCUMENTS = {"window": {"showDocument": {"support": True}}}


def declaring(*features: str) -> dict[str, Any]:
    return {"experimental": {"codelaw": {feature: {} for feature in features}}}


async def test_a_turn_is_answered_with_its_result_and_told_by_events(client: RawClient) -> None:
    result = await client.request(SEND, {"text": "words a b c"})
    assert result["stopReason"] == "finished"
    assert result["usage"]["totalTokens"] == 10
    assert "error" not in result
    events = client.events(result["chatId"])
    kinds = [event["event"]["kind"] for event in events]
    assert kinds == ["turn_started", "answer", "answer", "answer", "turn_ended"]
    assert [event["seq"] for event in events] == sorted(event["seq"] for event in events)
    assert [event["event"]["delta"] for event in events[1:4]] == ["a", "b", "c"]
    assert events[-1]["event"]["result"] == result


async def test_every_method_and_its_twin_give_the_same(client: RawClient) -> None:
    chat = await client.request("codelaw/chat/create", {"title": "one", "mode": "ask"})
    assert (chat["title"], chat["mode"], chat["running"]) == ("one", "ask", None)
    chat_id = chat["id"]
    calls: list[tuple[str, dict[str, Any]]] = [
        ("codelaw/chat/list", {"limit": 1}),
        ("codelaw/chat/read", {"chatId": chat_id, "sinceSeq": 0}),
        ("codelaw/chat/cancel", {"chatId": chat_id}),
        ("codelaw/chat/update", {"chatId": chat_id, "title": "two"}),
        ("codelaw/context/inspect", {"chatId": chat_id, "text": "what"}),
        ("codelaw/context/law", {}),
        ("codelaw/context/mentions", {"prefix": "src/", "limit": 2}),
        ("codelaw/context/editor", {"uri": "file:///w/a.py"}),
        ("codelaw/model/list", {}),
        ("codelaw/command/list", {}),
        ("codelaw/skill/list", {}),
        ("codelaw/agent/list", {}),
        ("codelaw/mcp/list", {}),
        ("codelaw/search", {"query": "anything"}),
        ("codelaw/index/status", {}),
        ("codelaw/settings/read", {}),
    ]
    for method, params in calls:
        assert await client.request(method, params) == await client.command(method.replace("/", "."), params)
    read = await client.request("codelaw/chat/read", {"chatId": chat_id})
    assert read["running"] is None
    assert read["messages"][0] == {"id": "m1", "turnId": "t1", "role": "user", "content": "hello", "metadata": {}}
    assert await client.request("codelaw/chat/delete", {"chatId": chat_id}) == {"deleted": True}
    assert (
        await client.error(
            "workspace/executeCommand", {"command": "codelaw.chat.delete", "arguments": [{"chatId": chat_id}]}
        )
    ).data["code"] == "chat_not_found"


async def test_places_in_code_have_lines_as_lsp_counts(client: RawClient) -> None:
    found = await client.request("codelaw/search", {"query": "f", "path": "src", "kind": "definition", "limit": 1})
    assert found == {
        "places": [
            {
                "uri": "file:///w/a.py",
                "path": "src/a.py",
                "range": {"start": {"line": 3, "character": 0}, "end": {"line": 5, "character": 0}},
                "symbol": "f",
                "kind": "function",
                "lines": ["def f():", "    pass"],
                "why": "defines: f",
                "score": 1.5,
            }
        ],
        "indexed": {"files": 2, "fresh": True},
    }
    for wrong in ({}, {"query": ""}, {"query": "f", "kind": "class"}, {"query": "f", "limit": 0}):
        assert (await client.error("codelaw/search", wrong)).code == -32602
    rebuilt = await client.request("codelaw/index/rebuild", {})
    assert (rebuilt["state"], rebuilt["skipped"]) == ("building", {"binary": 1})


async def test_the_twin_of_send_answers_at_once(client: RawClient) -> None:
    started = await client.command("codelaw.chat.send", {"text": "wait"})
    assert set(started) == {"chatId", "turnId"}
    assert (await client.request("codelaw/chat/read", {"chatId": started["chatId"]}))["running"] == started["turnId"]
    assert await client.command("codelaw.chat.cancel", {"chatId": started["chatId"]}) == {"cancelled": True}
    ended = await client.event("turn_ended")
    assert ended["event"]["result"]["stopReason"] == "cancelled"


async def test_steering_and_a_second_turn(client: RawClient) -> None:
    started = await client.command("codelaw.chat.send", {"text": "wait"})
    chat_id = started["chatId"]
    steered = await client.request("codelaw/chat/steer", {"chatId": chat_id, "text": "left"})
    assert steered == {"queued": True, "id": "s1"}
    reported = (await client.event("steer"))["event"]
    assert reported == {"kind": "steer", "text": "left", "id": "s1", "state": "waiting", "step": 1}
    withdrawn = await client.request("codelaw/chat/unsteer", {"chatId": chat_id, "id": "s1"})
    assert withdrawn == {"withdrawn": True}
    assert (await client.request("codelaw/chat/unsteer", {"chatId": chat_id, "id": "s2"})) == {"withdrawn": False}
    for call, stopped in (("k1", True), ("k2", False)):
        answer = await client.request("codelaw/chat/stopCall", {"chatId": chat_id, "callId": call})
        assert answer == {"stopped": stopped}
    assert (await client.error(SEND, {"chatId": chat_id, "text": "more"})).data["code"] == "chat_busy"
    await client.request("codelaw/chat/cancel", {"chatId": chat_id})
    error = await client.error("codelaw/chat/steer", {"chatId": chat_id, "text": "left"})
    assert error.data["code"] == "turn_not_found"


@pytest.mark.parametrize("way", ["$/cancelRequest", "progress", "codelaw/chat/cancel"])
async def test_every_way_to_cancel_gives_a_result(client: RawClient, way: str) -> None:
    request_id, future = await client.start(SEND, {"text": "wait"})
    chat_id = (await client.event("tool_call"))["chatId"]
    if way == "$/cancelRequest":
        await client.cancel(request_id)
        await client.cancel(request_id)
    elif way == "progress":
        token = (await client.method("window/workDoneProgress/create"))["token"]
        await client.notify("window/workDoneProgress/cancel", {"token": "unknown"})
        await client.notify("window/workDoneProgress/cancel", {"token": token})
    else:
        assert await client.request(way, {"chatId": chat_id}) == {"cancelled": True}
    assert (await client.wait_for(future))["result"]["stopReason"] == "cancelled"
    assert (await client.request(SEND, {"chatId": chat_id, "text": "again"}))["stopReason"] == "finished"


async def test_cancelling_other_requests_is_an_error_and_unknown_ones_nothing(client: RawClient) -> None:
    request_id, future = await client.start("codelaw/chat/list", {"query": "slow"})
    await client.cancel("unknown")
    await client.cancel(request_id)
    assert (await client.wait_for(future))["error"]["code"] == -32800
    params = {"command": "codelaw.chat.list", "arguments": [{"query": "slow"}]}
    request_id, future = await client.start("workspace/executeCommand", params)
    await client.cancel(request_id)
    assert (await client.wait_for(future))["error"]["code"] == -32800


async def test_a_request_cancelled_before_it_began_is_answered(fresh: RawClient) -> None:
    await fresh.request("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
    request = b'{"jsonrpc":"2.0","id":"x","method":"codelaw/chat/list","params":{}}'
    cancel = b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"x"}}'
    future = fresh.expect("x")
    frames = [b"Content-Length: %d\r\n\r\n%s" % (len(body), body) for body in (request, cancel)]
    await fresh.send_bytes(b"".join(frames))
    assert (await fresh.wait_for(future))["error"]["code"] == -32800


async def test_a_turn_cancelled_while_it_begins_ends_cancelled(client: RawClient) -> None:
    request_id, future = await client.start(SEND, {"text": "late"})
    await client.request(SEND, {"text": "begun?"})
    await client.cancel(request_id)
    assert (await client.wait_for(future))["result"]["stopReason"] == "cancelled"


async def test_an_approval_is_asked_and_its_answer_taken(client: RawClient) -> None:
    client.answers["codelaw/approval/request"] = {"optionId": "once", "comment": "fine"}
    assert (await client.request(SEND, {"text": "ask"}))["answer"] == "once|fine"
    asked = await client.method("codelaw/approval/request")
    assert {"chatId", "turnId", "callId", "tool", "title", "risk", "preview", "options"} == set(asked)
    assert asked["preview"] == {"command": "ls -l"}
    assert asked["options"][1] == {
        "id": "chat", "title": "Always in this chat", "kind": "allow_chat", "rule": "Bash(ls:*)",
    }  # fmt: skip


@pytest.mark.parametrize(
    "answer",
    [
        {"cancelled": True},
        {"optionId": "never offered"},
        {"optionId": 7},
        {},
        None,
        "once",
        RpcError({"code": -32601, "message": "no"}),
        {"optionId": "once", "cancelled": True},
    ],
)
async def test_an_answer_that_is_none_dismisses_the_question(client: RawClient, answer: object) -> None:
    client.answers["codelaw/approval/request"] = answer
    assert (await client.request(SEND, {"text": "ask"}))["answer"] == "None|"


@pytest.mark.parametrize(
    ("answer", "taken"),
    [({"title": "Allow once"}, "once|"), ({"title": "Else"}, "None|"), (None, "None|"), ("Allow once", "None|")],
)
async def test_a_client_that_says_nothing_is_asked_by_a_message(fresh: RawClient, answer: object, taken: str) -> None:
    await fresh.initialize(NOTHING)
    fresh.answers["window/showMessageRequest"] = answer
    assert (await fresh.request(SEND, {"text": "ask"}))["answer"] == taken
    asked = await fresh.method("window/showMessageRequest")
    assert "ls -l" in asked["message"]
    assert [action["title"] for action in asked["actions"]] == ["Allow once", "Always in this chat", "Reject"]
    assert fresh.events() == []


@pytest.mark.parametrize(
    ("capabilities", "question"),
    [(EVERYTHING, "codelaw/approval/request"), (NOTHING, "window/showMessageRequest")],
)
async def test_a_cancel_withdraws_the_question(fresh: RawClient, capabilities: dict, question: str) -> None:
    await fresh.initialize(capabilities)
    fresh.answers[question] = NO_ANSWER
    request_id, future = await fresh.start(SEND, {"text": "ask"})
    asked = await fresh.until(lambda message: message.get("method") == question)
    await fresh.cancel(request_id)
    assert (await fresh.wait_for(future))["result"]["stopReason"] == "cancelled"
    assert await fresh.method("$/cancelRequest") == {"id": asked["id"]}
    await fresh.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"optionId": "once"}})
    assert (await fresh.request(SEND, {"text": "on"}))["stopReason"] == "finished"


async def test_progress_is_made_shown_and_ended(client: RawClient) -> None:
    made = asyncio.Event()

    async def slowly(_params: Any) -> None:
        await made.wait()

    client.answers["window/workDoneProgress/create"] = slowly
    request_id, future = await client.start(SEND, {"text": "wait"})
    await client.event("tool_call")
    token = (await client.method("window/workDoneProgress/create"))["token"]
    assert client.params("$/progress") == []
    made.set()
    report = await client.until(lambda m: m.get("method") == "$/progress" and m["params"]["value"]["kind"] == "report")
    assert report["params"]["value"]["message"] == "Step 1: Run sleep"
    await client.cancel(request_id)
    await client.wait_for(future)
    values = [item["value"] for item in client.params("$/progress") if item["token"] == token]
    assert [value["kind"] for value in values] == ["begin", "report", "end"]
    assert values[0]["cancellable"] is True


async def test_a_client_without_progress_gets_none(fresh: RawClient) -> None:
    await fresh.initialize(declaring("events"))
    await fresh.request(SEND, {"text": "hello"})
    assert fresh.params("window/workDoneProgress/create") == []
    assert len(fresh.events()) == 2


async def test_a_palette_command_shows_its_answer_as_a_document(fresh: RawClient, home: Path) -> None:
    await fresh.initialize(DOCUMENTS)
    fresh.answers["window/showDocument"] = {"success": True}
    started = await fresh.command("codelaw.chat.send", {"text": "hello"})
    shown = await fresh.method("window/showDocument")
    path = home / "answers" / f"{started['turnId']}.md"
    assert shown["uri"] == path.as_uri()
    assert path.read_text() == "you said hello\n"


@pytest.mark.parametrize(
    ("capabilities", "answer"), [(NOTHING, None), (DOCUMENTS, {"success": False}), (DOCUMENTS, RpcError({"code": 1}))]
)
async def test_else_it_shows_a_message(fresh: RawClient, capabilities: dict, answer: object) -> None:
    await fresh.initialize(capabilities)
    fresh.answers["window/showDocument"] = answer
    await fresh.command("codelaw.chat.send", {"text": "hello"})
    assert (await fresh.method("window/showMessage"))["message"] == "you said hello"


async def test_what_the_editor_shows_is_counted_in_the_agreed_encoding(client: RawClient, tmp_path: Path) -> None:
    uri = await client.open(tmp_path / "a.py", "😀x = 1\ny\n", 4)
    selection = {"start": {"line": 0, "character": 2}, "end": {"line": 0, "character": 3}}
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": 2, "character": 0}}
    editor = {"uri": uri, "version": 4, "cursor": selection["end"], "selection": selection, "visible": whole}
    await client.request(SEND, {"text": "look", "editor": editor})
    given = (await client.event("notice"))["event"]["message"]
    assert "line=0" in given
    assert "selection=LineRange(start_line=0, start_character=1, end_line=0, end_character=2)" in given
    assert "visible=(0, 2), version=4" in given


@pytest.mark.parametrize(
    ("editor", "wanted"),
    [
        ({"line": 3}, "line=3, selection=None"),
        ({"line": 3, "cursor": {"line": 5, "character": 0}}, "line=5, selection=None"),
        ({"selection": {"start": {"line": 1, "character": 2}, "end": {"line": 1, "character": 2}}}, "selection=None"),
    ],
)
async def test_the_older_form_and_an_empty_selection(client: RawClient, editor: dict[str, Any], wanted: str) -> None:
    await client.request(SEND, {"text": "look", "editor": {"uri": "file:///w/a.py", **editor}})
    assert wanted in (await client.event("notice"))["event"]["message"]
