"""Compaction over the wire: methods and their twins, cancelling, progress, what other clients are shown (K-6, V-5)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.lsp.raw import NOTHING, RawClient, RpcError

SEND = "codelaw/chat/send"
COMPACT = "codelaw/context/compact"
RESTORE = "codelaw/context/restore"
ARCHIVE = "codelaw/context/archive"
CANCEL_BAR = "window/workDoneProgress/cancel"
DOCUMENTS = {"window": {"showDocument": {"support": True}}}
TIMED_OUT = "Summary generation timed out, keeping recent history only."


async def chat_called(client: RawClient, title: str) -> str:
    return (await client.request("codelaw/chat/create", {"title": title}))["id"]


async def release(client: RawClient) -> None:
    """Let compactions that are held go on."""
    await client.request("codelaw/chat/update", {"chatId": await chat_called(client, "other"), "title": "go"})
    await client.request("codelaw/model/list", {})


async def bar(client: RawClient, start: int = 0) -> str:
    """The token of the first bar for a compaction."""
    made = await client.until(
        lambda message: (
            message.get("method") == "window/workDoneProgress/create" and "/compaction/" in message["params"]["token"]
        ),
        start,
    )
    return made["params"]["token"]


async def values(client: RawClient, token: str) -> list[dict[str, Any]]:
    """All that a bar said until it ended."""
    await client.until(
        lambda message: (
            message.get("method") == "$/progress"
            and message["params"]["token"] == token
            and message["params"]["value"]["kind"] == "end"
        )
    )
    return [item["value"] for item in client.params("$/progress") if item["token"] == token]


def phases(client: RawClient, chat_id: str) -> list[str]:
    events = [event["event"] for event in client.events(chat_id)]
    return [event["phase"] for event in events if event["kind"] == "compaction"]


async def test_a_compaction_is_answered_with_its_report_and_told_by_events(client: RawClient) -> None:
    chat_id = await chat_called(client, "one")
    report = await client.request(COMPACT, {"chatId": chat_id})
    assert report == {
        "compacted": True, "reason": "manual", "checkpointId": report["checkpointId"], "roundsArchived": 14,
        "roundsKept": 10, "tokensBefore": 161_000, "tokensAfter": 62_000, "summary": "model", "seconds": 8.2,
        "thinned": 0, "message": "",
    }  # fmt: skip
    events = client.events(chat_id)
    assert [event["event"] for event in events] == [
        {"kind": "compaction", "phase": "started"},
        {"kind": "compaction", "phase": "summarising"},
        {"kind": "compaction", "phase": "finished", "report": report},
    ]
    assert {event["turnId"] for event in events} == {""}
    assert [event["seq"] for event in events] == sorted({event["seq"] for event in events})


async def test_archive_and_restore(client: RawClient) -> None:
    chat_id = await chat_called(client, "one")
    assert await client.request(ARCHIVE, {"chatId": chat_id}) == {"text": "", "checkpoints": []}
    ids = [(await client.request(COMPACT, {"chatId": chat_id}))["checkpointId"] for _ in range(3)]
    archive = await client.request(ARCHIVE, {"chatId": chat_id})
    assert archive["text"] == "\n\n".join(f"# Summary {id_}" for id_ in ids)
    first = {"id": ids[0], "at": 1000.5, "roundsArchived": 14, "summary": "model", "text": f"# Summary {ids[0]}"}
    assert archive["checkpoints"][0] == first
    chat = await client.request(RESTORE, {"chatId": chat_id})
    assert chat == (await client.request("codelaw/chat/read", {"chatId": chat_id}))["chat"]
    assert [cut["id"] for cut in (await client.request(ARCHIVE, {"chatId": chat_id}))["checkpoints"]] == ids[:2]
    assert (await client.command("codelaw.context.restore", {"chatId": chat_id, "checkpointId": ids[0]}))[
        "id"
    ] == chat_id
    assert (await client.command("codelaw.context.archive", {"chatId": chat_id}))["checkpoints"] == []
    error = await client.error(RESTORE, {"chatId": chat_id})
    assert (error.code, error.data["code"]) == (-32803, "nothing_to_undo")


async def test_requests_join_one_compaction_and_get_one_report(client: RawClient) -> None:
    chat_id = await chat_called(client, "hold")
    _, first = await client.start(COMPACT, {"chatId": chat_id})
    await client.event("compaction", phase="summarising")
    _, second = await client.start(COMPACT, {"chatId": chat_id})
    assert await client.command("codelaw.context.compact", {"chatId": chat_id}) == {"chatId": chat_id, "turnId": None}
    await release(client)
    report = (await client.wait_for(first))["result"]
    assert report["compacted"] is True
    assert (await client.wait_for(second))["result"] == report
    assert phases(client, chat_id) == ["started", "summarising", "finished"]


@pytest.mark.parametrize("way", ["$/cancelRequest", "progress", "codelaw/chat/cancel"])
async def test_every_way_to_cancel_gives_all_who_wait_the_report(client: RawClient, way: str) -> None:
    chat_id = await chat_called(client, "hold")
    request_id, first = await client.start(COMPACT, {"chatId": chat_id})
    _, second = await client.start(COMPACT, {"chatId": chat_id})
    await client.event("compaction", phase="summarising")
    if way == "$/cancelRequest":
        await client.cancel(request_id)
        await client.cancel(request_id)
    elif way == "progress":
        await client.notify(CANCEL_BAR, {"token": await bar(client)})
    else:
        assert await client.request(way, {"chatId": chat_id}) == {"cancelled": True}
    for future in (first, second):
        report = (await client.wait_for(future))["result"]
        assert (report["compacted"], report["reason"], report["tokensAfter"]) == (False, "cancelled", 161_000)
    assert phases(client, chat_id) == ["started", "summarising", "cancelled"]


async def test_a_compaction_cancelled_before_it_began_never_begins(client: RawClient) -> None:
    chat_id = await chat_called(client, "late")
    request_id, future = await client.start(COMPACT, {"chatId": chat_id})
    await client.request("codelaw/model/list", {})
    await client.cancel(request_id)
    assert (await client.wait_for(future))["result"]["reason"] == "cancelled"
    await release(client)
    assert phases(client, chat_id) == []


async def test_its_command_answers_at_once(client: RawClient) -> None:
    chat_id = await chat_called(client, "hold")
    assert await client.command("codelaw.context.compact", {"chatId": chat_id}) == {"chatId": chat_id, "turnId": None}
    assert phases(client, chat_id) == ["started", "summarising"]
    assert await client.command("codelaw.chat.cancel", {"chatId": chat_id}) == {"cancelled": True}
    ended = await client.event("compaction", phase="cancelled")
    assert ended["event"]["report"]["reason"] == "cancelled"
    assert client.params("window/showMessage") == []


async def test_a_refusal_that_comes_late_is_told(client: RawClient) -> None:
    chat_id = await chat_called(client, "late")
    assert await client.command("codelaw.context.compact", {"chatId": chat_id}) == {"chatId": chat_id, "turnId": None}
    await client.request("codelaw/chat/delete", {"chatId": chat_id})
    await release(client)
    said = await client.method("window/showMessage")
    assert said == {"type": 1, "message": f"There is no chat {chat_id} List the chats"}


async def test_a_bug_that_comes_late_is_told(client: RawClient) -> None:
    chat_id = await chat_called(client, "late bug")
    await client.command("codelaw.context.compact", {"chatId": chat_id})
    await release(client)
    assert (await client.method("window/showMessage"))["message"].startswith("Internal error")
    assert await client.shut_down() == 0
    assert "the secret of the bug" in client.process.stderr


async def test_a_compaction_has_a_bar_of_its_own(client: RawClient) -> None:
    chat_id = await chat_called(client, "hold")
    _, future = await client.start(COMPACT, {"chatId": chat_id})
    token = await bar(client)
    report = await client.until(lambda m: m.get("method") == "$/progress" and m["params"]["value"]["kind"] == "report")
    assert report["params"] == {"token": token, "value": {"kind": "report", "message": "Writing the summary"}}
    await release(client)
    await client.wait_for(future)
    begin, _, end = await values(client, token)
    assert (begin["kind"], begin["title"], begin["cancellable"]) == ("begin", "codelaw: compacting the chat", True)
    assert end["message"] == "Compacted: 14 rounds archived, 10 kept, 161k → 62k tokens, 8 s."
    await client.request(COMPACT, {"chatId": chat_id})
    tokens = [params["token"] for params in client.params("window/workDoneProgress/create")]
    assert len(tokens) == len(set(tokens)) == 2


async def test_the_button_of_its_bar_stops_the_compaction_and_not_the_turn(client: RawClient) -> None:
    chat_id = await chat_called(client, "hold")
    _, future = await client.start(SEND, {"chatId": chat_id, "text": "compact"})
    token = await bar(client)
    await client.event("compaction", phase="summarising")
    turn_bar = (await client.method("window/workDoneProgress/create"))["token"]
    assert turn_bar != token
    await client.notify(CANCEL_BAR, {"token": token})
    result = (await client.wait_for(future))["result"]
    assert (result["stopReason"], result["answer"]) == ("finished", "cancelled")
    assert (await values(client, token))[-1]["message"].startswith("The compaction was cancelled")
    assert (await values(client, turn_bar))[-1]["message"] == "finished"
    kinds = [(event["event"]["kind"], event["turnId"]) for event in client.events(chat_id)]
    turn = result["turnId"]
    assert kinds == [("turn_started", turn), *[("compaction", turn)] * 3, ("turn_ended", turn)]


@pytest.mark.parametrize(
    ("title", "level", "said"),
    [
        ("one", 3, "Compacted: 14 rounds archived, 10 kept, 161k → 62k tokens, 8 s."),
        ("few", 3, "Nothing to compact: every round is recent enough to stay."),
        ("timeout", 2, TIMED_OUT),
    ],
)
async def test_a_client_without_events_is_told_how_the_command_ended(
    fresh: RawClient, title: str, level: int, said: str
) -> None:
    await fresh.initialize(NOTHING)
    chat_id = await chat_called(fresh, title)
    assert await fresh.command("codelaw.context.compact", {"chatId": chat_id}) == {"chatId": chat_id, "turnId": None}
    assert await fresh.method("window/showMessage") == {"type": level, "message": said}
    assert fresh.events() == []
    await fresh.request(COMPACT, {"chatId": chat_id})
    assert len(fresh.params("window/showMessage")) == 1, "a request has its answer"


async def test_commands_that_joined_are_told_once(fresh: RawClient) -> None:
    await fresh.initialize(NOTHING)
    chat_id = await chat_called(fresh, "hold")
    for _ in range(2):
        await fresh.command("codelaw.context.compact", {"chatId": chat_id})
    assert await fresh.command("codelaw.chat.cancel", {"chatId": chat_id}) == {"cancelled": True}
    assert (await fresh.method("window/showMessage"))["message"].startswith("The compaction was cancelled")
    assert await fresh.request("codelaw/chat/list", {})
    assert len(fresh.params("window/showMessage")) == 1


@pytest.mark.parametrize(("title", "said"), [("timeout", [TIMED_OUT]), ("one", [])])
async def test_within_a_turn_only_what_must_be_said_is_said(fresh: RawClient, title: str, said: list[str]) -> None:
    await fresh.initialize(NOTHING)
    await fresh.request(SEND, {"chatId": await chat_called(fresh, title), "text": "compact"})
    assert [params["message"] for params in fresh.params("window/showMessage")] == said


async def test_the_archive_is_shown_as_a_document(fresh: RawClient, home: Path) -> None:
    await fresh.initialize(DOCUMENTS)
    fresh.answers["window/showDocument"] = {"success": True}
    chat_id = await chat_called(fresh, "one")
    cut = (await fresh.request(COMPACT, {"chatId": chat_id}))["checkpointId"]
    archive = await fresh.command("codelaw.context.archive", {"chatId": chat_id})
    path = home / "archives" / f"{chat_id}.md"
    assert (await fresh.method("window/showDocument"))["uri"] == path.as_uri()
    assert path.read_text() == f"# Summary {cut}\n" == archive["text"] + "\n"


@pytest.mark.parametrize(
    ("capabilities", "answer"), [(NOTHING, None), (DOCUMENTS, {"success": False}), (DOCUMENTS, RpcError({"code": 1}))]
)
async def test_else_the_archive_is_a_message(fresh: RawClient, capabilities: dict, answer: object) -> None:
    await fresh.initialize(capabilities)
    fresh.answers["window/showDocument"] = answer
    chat_id = await chat_called(fresh, "one")
    await fresh.command("codelaw.context.archive", {"chatId": chat_id})
    assert (await fresh.method("window/showMessage"))["message"] == "Nothing of this chat is archived."
    start = len(fresh.messages)
    cut = (await fresh.request(COMPACT, {"chatId": chat_id}))["checkpointId"]
    await fresh.command("codelaw.context.archive", {"chatId": chat_id})
    assert (await fresh.method("window/showMessage", start))["message"] == f"# Summary {cut}"
