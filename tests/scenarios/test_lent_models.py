"""Models that the editor lends: the real server over stdio, and a client that lends (P-7)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.lending import LENDS, MODEL, NAME, Lender, call, forever, refusal, text
from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor
from tests.lsp.raw import RawClient
from tests.scenarios.conftest import Start, act, finish

KEYLESS: dict[str, Any] = {"model": {"provider": "auto"}}
NATIVE: dict[str, Any] = {"model": {"dialect": "native"}}


@pytest.fixture
async def client(start: Start, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[RawClient]:
    """A client that lends, of a server without any key."""
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    async with start(LENDS, KEYLESS) as made:
        yield made


async def rows(client: RawClient) -> list[dict[str, Any]]:
    return (await client.request("codelaw/model/list", {}))["models"]


async def send(client: RawClient, words: str, **more: Any) -> dict[str, Any]:
    return await client.request("codelaw/chat/send", {"text": words, "model": NAME, **more})


async def test_what_is_lent_is_offered_without_a_key_and_never_taken(client: RawClient):
    lender = Lender(client)
    by_name = {row["name"]: row for row in await rows(client)}
    lent = by_name[NAME]
    assert (lent["source"], lent["provider"], lent["contextWindow"], lent["current"]) == (
        "editor",
        "editor",
        64_000,
        False,
    )
    assert "priceIn" not in lent
    assert by_name["offline"]["current"]
    result = await client.request("codelaw/chat/send", {"text": "who are you?"})
    assert result["model"] == "offline"
    assert lender.asked == [], "nobody has chosen it"


async def test_the_list_is_asked_anew_and_bad_lists_are_none(client: RawClient):
    lender = Lender(client)
    lender.models = [MODEL, MODEL | {"id": "copilot/other"}, MODEL]
    assert [row["name"] for row in await rows(client) if row["source"] == "editor"] == [NAME, "editor/copilot/other"]
    lender.models = []
    assert not [row for row in await rows(client) if row["source"] == "editor"]
    for bad in (None, {"models": 3}, {"models": [{"id": ""}]}, refusal("Unknown", "not today")):
        client.answers["codelaw/editor/models"] = bad
        assert not [row for row in await rows(client) if row["source"] == "editor"]


@pytest.mark.parametrize("dialect", ["react", "native"])
async def test_a_turn_with_a_tool_call_is_answered_by_it(start: Start, root: Path, dialect: str):
    (root / "a.txt").write_text("the word is Rumpelstiltskin\n")
    async with start(LENDS, {"model": {"dialect": dialect}}) as client:
        if dialect == "native":
            replies = [[text("I look."), call("c1", "Read", {"path": "a.txt"})], [text("It is "), text("R.")]]
        else:
            replies = [
                [text(act("Read", '{"path": "a.txt"}'))],
                [text("Thought: done\n"), text("Action: Finish[It is R.]")],
            ]
        lender = Lender(client, *replies)
        result = await send(client, "What is the word?")
        assert (result["stopReason"], result["answer"], result["model"]) == ("finished", "It is R.", NAME)
        first, second = lender.asked
        assert first["model"] == MODEL["id"]
        assert len(first["messages"][0]["parts"]) == 1, "L1 is a message of its own"
        assert second["messages"][: len(first["messages"])] == first["messages"], "requests only grow"
        assert "Rumpelstiltskin" in json.dumps(second["messages"][-1])
        assert bool(first["tools"]) == (dialect == "native")
        usage = result["usage"]
        assert usage["estimatedTokens"] == usage["totalTokens"] > 0
        assert usage["outputTokens"] > 0
        assert "costUsd" not in usage
        said = await client.event("usage")
        assert said["event"]["estimatedTokens"] > 0


async def test_a_stop_withdraws_the_question(client: RawClient):
    Lender(client, forever)
    _, future = await client.start("codelaw/chat/send", {"text": "Wait.", "model": NAME})
    asked = await client.until(lambda message: message.get("method") == "codelaw/editor/model")
    chat_id = (await client.event("turn_started"))["chatId"]
    await client.request("codelaw/chat/cancel", {"chatId": chat_id})
    result = (await client.wait_for(future))["result"]
    assert result["stopReason"] == "cancelled"
    assert await client.method("$/cancelRequest") == {"id": asked["id"]}


async def test_what_is_not_needed_any_more_is_withdrawn(client: RawClient, root: Path):
    (root / "a.txt").write_text("x\n")

    async def talks_on(say: Any) -> Any:
        await say(text(act("Read", '{"path": "a.txt"}') + "\nObservation: I made this up"))
        return await forever(say)

    lender = Lender(client, talks_on, [text(finish("yes"))])
    result = await send(client, "Is it?")
    assert (result["stopReason"], result["answer"]) == ("finished", "yes")
    assert await client.method("$/cancelRequest")
    assert "I made this up" not in json.dumps(lender.asked[1]["messages"])


@pytest.mark.parametrize(
    ("error", "code", "words", "hint"),
    [
        (refusal("NoPermissions", "no consent"), "not_lent", "does not let codelaw use", "allow it"),
        (refusal("Blocked", "quota exceeded"), "spending_limit", "quota exceeded", "another"),
        (refusal("NotFound", "withdrawn"), "model_not_found", "does not lend copilot/gpt-x", "another model"),
        (refusal("Unknown", "400 model_not_supported"), "model_not_found", "model_not_supported", "another model"),
    ],
)
async def test_errors_say_what_to_do(client: RawClient, error: Any, code: str, words: str, hint: str):
    lender = Lender(client, error)
    result = await send(client, "Go.")
    assert (result["stopReason"], result["error"]["code"]) == ("failed", code)
    assert words in result["error"]["message"]
    assert hint in result["error"]["hint"]
    assert "ANTHROPIC" not in result["error"]["hint"]
    assert len(lender.asked) == 1, "what will be refused again is not asked again"


async def test_one_that_fails_is_asked_again_and_what_it_said_is_kept(client: RawClient):
    async def breaks(say: Any) -> Any:
        await say(text("Thought: done\nAction: Finish[one "))
        return refusal("Unknown", "socket hang up")

    lender = Lender(client, breaks, [text("two]")])
    result = await send(client, "Count.")
    assert (result["stopReason"], result["answer"]) == ("finished", "one two")
    assert (await client.event("retry"))["event"]["attempt"] == 2
    assert len(lender.asked) == 2


async def test_one_withdrawn_in_mid_turn_ends_the_turn_by_its_name(client: RawClient, root: Path):
    (root / "a.txt").write_text("x\n")
    lender = Lender(client)

    async def goes(say: Any) -> Any:
        lender.models = []
        await say(text(act("Read", '{"path": "a.txt"}')))
        return {"stop": "end_turn"}

    lender.replies.append(goes)
    result = await send(client, "Read it.")
    assert result["error"]["code"] == "model_not_found"
    assert "copilot/gpt-x" in result["error"]["message"]


async def test_nonsense_in_the_stream_is_passed_over(client: RawClient):
    odd = [{"kind": "video"}, 3, None, {"kind": "text", "text": 7}, {"kind": "other"}]
    Lender(client, [*odd, text(finish("fine"))])
    await client.notify("$/progress", {"token": "nobody's", "value": text("x")})
    await client.notify("$/progress", [1])
    assert (await send(client, "Go."))["answer"] == "fine"


async def test_a_call_without_an_object_is_told_and_not_run(start: Start):
    async with start(LENDS, NATIVE) as client:
        lender = Lender(client, [call("c1", "Read", "a.txt")], [text("I see.")])
        assert (await send(client, "Go."))["answer"] == "I see."
        assert "JSON object" in json.dumps(lender.asked[1]["messages"][-1])


async def test_a_client_that_lends_none_is_told_so(start: Start):
    async with start() as client:
        error = await client.error("codelaw/chat/send", {"text": "Go.", "model": NAME})
        assert error.data["code"] == "model_unavailable"
        assert "lends none" in str(error.message)


async def test_nobody_who_wants_no_vendor_gets_one(start: Start):
    async with start(LENDS, {"model": {"provider": "offline"}}) as client:
        Lender(client)
        assert (await client.error("codelaw/chat/send", {"text": "Go.", "model": NAME})).data[
            "code"
        ] == "model_unavailable"


async def test_a_name_in_the_workspaces_settings_borrows_nothing(start: Start, root: Path):
    (root / ".codelaw").mkdir()
    (root / ".codelaw" / "config.toml").write_text(f'[model]\nname = "{NAME}"\n')
    async with start(LENDS, {"model": {}}) as client:
        lender = Lender(client)
        result = await client.request("codelaw/chat/send", {"text": "Go."})
        assert result["model"] == "offline"
        assert lender.asked == []


async def test_a_chat_that_was_answered_here_asks_before_it_is_lent_a_model(start: Start):
    async with start(LENDS, KEYLESS) as client:
        chat_id = (await client.request("codelaw/chat/send", {"text": "a secret"}))["chatId"]
    async with start(LENDS, {"model": {"provider": "editor", "name": MODEL["id"]}}) as client:
        lender = Lender(client, [text(finish("hello"))])
        client.answers["codelaw/approval/request"] = lambda params: {"optionId": "cancel"}
        await client.request("codelaw/chat/send", {"chatId": chat_id, "text": "Go."})
        assert lender.asked == []
        title = (await client.method("codelaw/approval/request"))["title"]
        assert "the editor" in title
        assert NAME in title
        client.answers["codelaw/approval/request"] = lambda params: {"optionId": "send"}
        result = await client.request("codelaw/chat/send", {"chatId": chat_id, "text": "Go."})
        assert (result["answer"], result["model"]) == ("hello", NAME)


async def test_a_chat_goes_from_a_vendor_to_a_lent_model_and_back(start: Start, vendor: LoopbackVendor, root: Path):
    (root / "a.txt").write_text("x\n")
    vendor.script = [
        VendorReply(text=act("Read", '{"path": "a.txt"}')),
        VendorReply(text=finish("one")),
        VendorReply(text=finish("three")),
    ]
    async with start(LENDS) as client:
        lender = Lender(client, [text(finish("two"))])
        chat_id = (await client.request("codelaw/chat/send", {"text": "first"}))["chatId"]
        second = await send(client, "second", chatId=chat_id)
        assert second["answer"] == "two"
        assert "first" in json.dumps(lender.asked[0]["messages"])
        third = await send(client, "third", chatId=chat_id, model="claude-sonnet-4-5")
        assert third["answer"] == "three"
        assert "second" in json.dumps(vendor.messages[-1].json["messages"])
