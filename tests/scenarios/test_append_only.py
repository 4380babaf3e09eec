"""What was sent stays where it was sent: a chat's requests only grow (L-3, L-6)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.loopback.claude import THINKING, Account
from tests.loopback.script import VendorReply
from tests.loopback.server import Captured, LoopbackVendor
from tests.lsp.raw import RawClient
from tests.scenarios.conftest import Start, act, finish

MODEL = "claude-sonnet-5-5"
"""It binds its thinking to all that stands before it, and takes system messages."""
"""It does neither."""


@pytest.fixture
async def vendor() -> AsyncIterator[LoopbackVendor]:
    async with LoopbackVendor(account=Account()) as made:
        yield made


def options(vendor: LoopbackVendor, dialect: str, model: str, **more: Any) -> dict[str, Any]:
    known = {"baseUrl": vendor.url, "apiKey": "sk-test-SECRET", "dialect": dialect, "name": model}
    return {"model": known, "permissions": {"default": "allow"}, **more}


def call(dialect: str, tool: str, **arguments: Any) -> VendorReply:
    if dialect == "native":
        return VendorReply(text="I do it.", calls=({"name": tool, "input": arguments},))
    return VendorReply(text=act(tool, str(arguments).replace("'", '"')))


def end(dialect: str, answer: str) -> VendorReply:
    return VendorReply(text=answer if dialect == "native" else finish(answer))


def todos(dialect: str, *states: str) -> VendorReply:
    listed = [{"content": f"part {number}", "status": state} for number, state in enumerate(states)]
    return call(dialect, "TodoWrite", todos=listed)


async def send(client: RawClient, text: str, chat: str | None = None) -> str:
    result = await client.request("codelaw/chat/send", {"text": text, **({} if chat is None else {"chatId": chat})})
    assert result["stopReason"] == "finished", result
    return result["chatId"]


def head(request: Captured) -> Any:
    return [bare(block) for name in ("tools", "system") for block in request.json.get(name, ())]


def said(request: Captured) -> list[Any]:
    return [(one["role"], bare(block)) for one in request.json["messages"] for block in one["content"]]


def bare(block: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in block.items() if key != "cache_control"}


def texts(request: Captured, role: str) -> list[str]:
    return [block["text"] for reported, block in said(request) if reported == role and block["type"] == "text"]


def thoughts(request: Captured) -> int:
    return sum(block["type"] in THINKING for _, block in said(request))


async def a_whole_chat(vendor: LoopbackVendor, root: Path, start: Start, dialect: str, model: str) -> str:
    """Steps, a list that changes, memories, a law and a list of skills that change, words in between, a restart."""
    (root / "CODE_LAW.md").write_text("LAW ONE.\n")
    (root / "a.py").write_text("x = 1\n" * 30)
    skill(root, "first")
    known = options(vendor, dialect, model)
    async with start(options=known) as client:
        client.answers["codelaw/approval/request"] = allow_once  # the law is asked about
        await client.request("codelaw/memory/save", {"text": "The user likes tea", "category": "preference"})
        vendor.play(
            todos(dialect, "in_progress", "pending"),
            call(dialect, "Read", path="a.py"),
            todos(dialect, "completed", "in_progress"),
            call(dialect, "Grep", pattern="x"),
            end(dialect, "one"),
        )
        chat = await send(client, "first")
        (root / "a.py").write_text("x = 2\n" * 30)  # which the model is told, as it has read the file
        vendor.play(
            call(dialect, "Read", path="CODE_LAW.md"),
            call(dialect, "Write", path="CODE_LAW.md", content="LAW TWO."),
            call(dialect, "LS", path="."),
            todos(dialect, "completed", "completed"),
            end(dialect, "two"),
        )
        await send(client, "second", chat)
        skill(root, "second")
        vendor.play(call(dialect, "LS", path="."), end(dialect, "three"))
        await send(client, "third", chat)
    async with start(options=known) as client:
        vendor.play(todos(dialect, "pending"), call(dialect, "LS", path="."), end(dialect, "four"))
        await send(client, "fourth", chat)
        (root / "CODE_LAW.md").unlink()
        vendor.play(call(dialect, "LS", path="."), end(dialect, "five"))
        await send(client, "fifth", chat)
    return chat


def allow_once(asked: dict[str, Any]) -> dict[str, str]:
    return {"optionId": next(option["id"] for option in asked["options"] if option["kind"] == "allow_once")}


def skill(root: Path, name: str) -> None:
    folder = root / ".codelaw" / "skills" / name
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(f"---\nname: {name}\ndescription: The {name} way\n---\nDo it.\n")


@pytest.mark.parametrize("dialect", ["native", "react"])
async def test_every_request_begins_with_the_one_before(
    vendor: LoopbackVendor, root: Path, start: Start, dialect: str
) -> None:
    await a_whole_chat(vendor, root, start, dialect, MODEL)
    assert vendor.refused == []
    assert len(vendor.messages) == 17
    for before, after in pairwise(vendor.messages):
        assert head(after) == head(before)
        assert said(after)[: len(said(before))] == said(before)
    if dialect == "native":
        assert [thoughts(request) for request in vendor.messages] == [*range(17)], "all thinking goes back"
    reported = "\n".join(texts(vendor.messages[-1], "system"))
    order = ["[0/2] In", "[1/2] In", "LAW TWO", "The second way", "[0/1]", "law of this workspace is gone"]
    places = [reported.index(words) for words in order]
    assert places == sorted(places)
    assert [reported.count(words) for words in order] == [1] * len(order), "each is said once"
    assert not any("<todo-recap>" in text for text in texts(vendor.messages[-1], "user"))
    # The new law counts from the next step on.
    assert ["LAW TWO" in "".join(texts(request, "system")) for request in vendor.messages[6:9]] == [False, True, True]


async def test_a_compaction_puts_the_law_of_now_in_its_place(vendor: LoopbackVendor, root: Path, start: Start) -> None:
    (root / "CODE_LAW.md").write_text("LAW ONE.\n")
    async with start(options=options(vendor, "native", MODEL, context={"keepRounds": 1})) as client:
        vendor.play(*(VendorReply(text=f"{number} " + "word " * 200) for number in range(4)))
        chat = await send(client, "first")
        (root / "CODE_LAW.md").write_text("LAW TWO.\n")
        for text in ("second", "third", "fourth"):
            await send(client, text, chat)
        assert "LAW ONE" in str(head(vendor.messages[-1]))
        assert "LAW TWO" in "".join(texts(vendor.messages[-1], "system"))
        vendor.reset()
        assert (await client.request("codelaw/context/compact", {"chatId": chat}))["compacted"]
        vendor.reset([VendorReply(text="5"), VendorReply(text="6")])
        await send(client, "fifth", chat)
        assert "LAW TWO" in str(head(vendor.messages[-1]))
        assert "LAW ONE" not in str(vendor.messages[-1].json)
        await client.request("codelaw/context/restore", {"chatId": chat})
        await send(client, "sixth", chat)
        assert "LAW ONE" in str(head(vendor.messages[-1])), "as it was sent then"
        assert "LAW TWO" in "".join(texts(vendor.messages[-1], "system"))
    assert vendor.refused == []


async def test_an_endpoint_that_takes_no_system_messages_gets_text(
    vendor: LoopbackVendor, root: Path, start: Start
) -> None:
    wrong = "messages.3.role: Input should be 'user' or 'assistant'"
    async with start(options=options(vendor, "native", MODEL)) as client:
        vendor.play(
            todos("native", "pending"),
            VendorReply(status=400, error_type="invalid_request_error", error_message=wrong),
            call("native", "LS", path="."),
            *(end("native", "done"),) * 2,
        )
        chat = await send(client, "first")
        await send(client, "second", chat)
    asked = [[message["role"] for message in request.json["messages"]] for request in vendor.messages]
    assert ["system" in roles for roles in asked] == [False, True, False, False, False]
    assert "<todo-recap>" in str(vendor.messages[-1].json)


async def test_a_key_in_the_law_is_not_kept(vendor: LoopbackVendor, root: Path, start: Start, home: Path) -> None:
    async with start(options=options(vendor, "native", MODEL)) as client:
        chat = None
        for law in ("It is sk-test-SECRET.", "It was sk-test-SECRET."):
            (root / "CODE_LAW.md").write_text(law)
            vendor.play(VendorReply(text="ok"))
            chat = await send(client, "hello", chat)
    assert "It was [" in "".join(texts(vendor.messages[-1], "system"))
    assert not any(b"sk-test-SECRET" in file.read_bytes() for file in home.rglob("*") if file.is_file())
    assert "It was" in "".join(file.read_bytes().decode("latin-1") for file in home.rglob("*.db*"))
