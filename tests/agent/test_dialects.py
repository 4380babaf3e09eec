"""The dialect that a chat gets by default, keeps, and leaves when its model refuses to reason aloud (R-3, R-4)."""

from __future__ import annotations

from typing import Any

import pytest

from codelaw.domain.chats import TurnResult
from codelaw.domain.events import RetryEvent
from tests.agent.conftest import Bench
from tests.agent.talking import fine, said, system
from tests.loopback.script import VendorReply

THINKS, UNKNOWN = "claude-sonnet-5-5", "my-model"
THOUGHT = "Thought: what you know and what you need next\\nAction: ToolName["
REASONING = {"type": "refusal", "category": "reasoning_extraction", "explanation": "It asks for reasoning."}
REFUSED = VendorReply(text="Thought: SECRET", stop_reason="refusal", stop_details=REASONING)
ENDS = VendorReply(text="Thought: done\nAction: Finish[ok]")


@pytest.fixture
def dialect() -> str:
    """The default."""
    return "auto"


async def opened(bench: Bench, model: str = THINKS, dialect: str = "auto") -> None:
    """A session with that model and setting, as after a restart."""
    await bench.reopen(model={"dialect": dialect, "name": model})


def asked(bench: Bench, number: int = -1) -> str:
    return "native" if "tools" in bench.sent(number) else "react"


async def spoken(bench: Bench, chat: str | None = None) -> tuple[str, str]:
    """The dialect of a turn that ends at once, and its chat."""
    bench.vendor.play(ENDS)
    result = await bench.turn("Go on.", chat)
    assert result.stop_reason == "finished"
    fine(bench)
    return asked(bench), result.chat_id


async def fork(bench: Bench, chat: str) -> str:
    """A copy of the chat."""
    said_last = (await bench.session.read(chat)).messages[-1]
    return (await bench.session.fork(chat, said_last.turn_id)).id


def looks(dialect: str, **more: Any) -> VendorReply:
    if dialect == "react":
        return VendorReply(text='Thought: t\nAction: LS[{"path": "."}]', **more)
    return VendorReply(text="I look.", calls=({"name": "LS", "input": {"path": "."}},), **more)


def reported(bench: Bench, result: TurnResult) -> tuple[list[str], list[str]]:
    """The codes of its notices, and why steps were asked again."""
    events: list[RetryEvent] = bench.kinds("retry")
    return [one.code for one in result.notices], [one.reason for one in events]


@pytest.mark.parametrize(
    ("model", "expected"),
    [(THINKS, "native"), ("claude-haiku-4-5", "native"), ("deepseek-chat", "react"), (UNKNOWN, "react")],
)
async def test_by_default_the_model_decides(bench: Bench, model: str, expected: str):
    await opened(bench, model)
    assert (await spoken(bench))[0] == expected
    shown = await bench.session.inspect(None, "Hello")
    assert (shown.dialect, "schemas" in [section.name for section in shown.sections]) == (
        expected,
        expected == "native",
    )


@pytest.mark.parametrize("began", ["react", "native"])
async def test_a_chat_keeps_what_it_began_with_until_somebody_sets_another(bench: Bench, began: str):
    other = "native" if began == "react" else "react"
    await opened(bench, dialect=began)
    seen, chat = await spoken(bench)
    assert seen == began
    await opened(bench)
    assert await spoken(bench, chat) == (began, chat)
    assert await spoken(bench, chat) == (began, chat)
    await bench.session.update(chat, model="claude-opus-5-5")
    assert await spoken(bench, chat) == (began, chat)
    assert (await spoken(bench, await fork(bench, chat)))[0] == began
    await opened(bench, dialect=other)
    assert await spoken(bench, chat) == (other, chat)


async def test_react_asks_no_model_for_reasoning_that_may_refuse_it(bench: Bench):
    await opened(bench, "claude-sonnet-4-5", "react")
    await spoken(bench)
    assert THOUGHT in system(bench.sent())
    await opened(bench, THINKS, "react")
    (bench.root / "a.py").write_text("A = 1\n")
    bench.events.clear()
    bench.vendor.play(
        VendorReply(text='Reading a.py\nAction: Read[{"path": "a.py"}]'),
        VendorReply(),
        VendorReply(text="Action: Finish[It is one.]"),
    )
    result = await bench.turn("What is A?")
    assert (result.stop_reason, result.answer, bench.shown("thought")) == ("finished", "It is one.", "Reading a.py")
    for number in (-3, -2, -1):
        assert "Thought" not in system(bench.sent(number)) + said(bench.sent(number))
    assert "Reading a.py" in said(bench.sent())
    fine(bench)


@pytest.mark.parametrize("setting", ["react", "auto"])
async def test_a_refusal_to_reason_aloud_switches_the_chat_to_native(bench: Bench, setting: str):
    await opened(bench, dialect="react")
    bench.vendor.play(looks("react"), REFUSED, looks("native"), VendorReply(text="It is so."))
    before = len(bench.vendor.messages)
    result = await bench.turn("Look around.")
    assert (result.stop_reason, result.answer, result.steps) == ("finished", "It is so.", 3)
    assert [asked(bench, number) for number in range(before, before + 4)] == ["react", "react", "native", "native"]
    assert reported(bench, result) == (["dialect_switched"], ["the model refused to write down its reasoning"])
    assert "SECRET" not in bench.shown("thought") + said(bench.sent())
    assert THOUGHT not in system(bench.sent())
    fine(bench)
    await opened(bench, dialect=setting)
    assert await spoken(bench, result.chat_id) == ("native", result.chat_id)
    assert (await spoken(bench, await fork(bench, result.chat_id)))[0] == "native"
    assert (await spoken(bench))[0] == ("react" if setting == "react" else "native"), "another chat"


async def test_what_native_refuses_as_well_ends_the_turn_with_its_category(bench: Bench):
    await opened(bench, dialect="react")
    bench.vendor.play(REFUSED, REFUSED)
    result = await bench.turn("Go.")
    assert result.stop_reason == "refused"
    assert result.error is not None
    assert "(reasoning_extraction: It asks for reasoning.)" in result.error.message
    assert "dialect" not in result.error.hint
    assert [asked(bench, number) for number in (-2, -1)] == ["react", "native"]
    assert result.usage.total_tokens > sum(bench.vendor.messages[number].tokens for number in (-2, -1)), (
        "both are billed"
    )
    assert await spoken(bench, result.chat_id) == ("native", result.chat_id)


async def test_a_child_is_spoken_to_as_its_own_model_wants(bench: Bench):
    agents = bench.home / "agents"
    agents.mkdir(parents=True, exist_ok=True)
    (agents / "plain.md").write_text(f"---\ndescription: x\nmodel: {UNKNOWN}\n---\nBe brief.\n")
    await opened(bench)
    order = {"name": "Task", "input": {"kind": "plain", "prompt": "Look"}}
    bench.vendor.play(
        VendorReply(text="I ask.", calls=(order,)), looks("react"), ENDS, VendorReply(text="Done.")
    )  # fmt: skip
    result = await bench.turn("Go.")
    assert (result.stop_reason, result.answer) == ("finished", "Done.")
    assert [(bench.sent(number)["model"], asked(bench, number)) for number in (-4, -3, -1)] == [
        (THINKS, "native"), (UNKNOWN, "react"), (THINKS, "native"),
    ]  # fmt: skip
    assert THOUGHT in system(bench.sent(-3))
    fine(bench)
