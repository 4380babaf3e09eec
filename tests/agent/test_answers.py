"""The joined answer deltas are the answer, however the turn ends (P-1, R-8, R-9)."""

from __future__ import annotations

import asyncio

import pytest

from codelaw.agent.turn.model_call import Joint
from tests.agent.conftest import Bench
from tests.agent.test_broken_store import agree
from tests.agent.test_control import begun, texts, until
from tests.agent.test_interrupts import check
from tests.loopback.script import VendorReply, fault

LONG = "A long answer in many pieces, every one of them different from the one before."


@pytest.mark.parametrize("text", ["on and on ", "Thought: on and on ", "Thought: x\nAction: Finish[on and on "])
async def test_an_answer_that_is_never_whole(bench: Bench, text: str):
    result = await bench.turn("go", replies=[VendorReply(text=text, stop_reason="max_tokens", times=0)])
    assert result.stop_reason == "token_limit"
    assert result.answer
    assert bench.shown("answer") == result.answer
    if bench.dialect == "react":
        assert "Finish[" not in result.answer
    await agree(bench, result.chat_id)


async def test_a_cancel_while_waiting_for_a_retry(bench: Bench):
    again = VendorReply(status=429, error_type="rate_limit_error", headers={"retry-after": "30"}, times=0)
    bench.vendor.reset([fault("reset_midstream", text=bench.finish(LONG).text), again])
    running = await bench.session.send(None, "go")
    await until(lambda: len(bench.kinds("retry")) == 2)
    assert await bench.session.cancel(running.chat_id)
    result = await running.result()
    assert (result.stop_reason, result.answer) == ("cancelled", bench.shown("answer"))
    assert "A long answer" in (await bench.session.read(running.chat_id)).messages[-1].content


async def test_a_cancel_that_comes_while_the_answer_is_stored_comes_too_late(bench: Bench):
    bench.vendor.reset([bench.finish("whole")])
    await bench.session.list(None, 1, None)
    store = bench.session._chats._stores.chats
    real, running = store.append, None  # type: ignore[union-attr]

    async def slow(*args, **more):
        running.cancel()
        await asyncio.sleep(0.02)
        return await real(*args, **more)

    store.append = slow  # type: ignore[union-attr, method-assign]
    running = await bench.session.send(None, "go")
    result = await running.result()
    assert (result.stop_reason, result.answer) == ("finished", "whole")
    store.append = real  # type: ignore[union-attr, method-assign]
    record = await bench.session.read(running.chat_id)
    assert [message.role for message in record.messages] == ["user", "assistant"]
    await agree(bench, running.chat_id)


async def test_a_refusal_after_the_answer_began(bench: Bench):
    result = await bench.turn("go", replies=[VendorReply(text=bench.finish("I will not").text, stop_reason="refusal")])
    assert (result.stop_reason, result.answer) == ("refused", "I will not")
    assert bench.shown("answer") == result.answer


async def test_the_turns_time_is_limited(bench: Bench):
    allowed = {"allow": ["Bash(sleep:*)"]}
    for seconds in (4, 40):  # on a busy machine the command has not begun
        await bench.reopen(turn={"timeoutSeconds": seconds}, permissions=allowed)
        bench.vendor.reset([bench.act("Bash", {"command": "sleep 60"}), bench.finish("ok", times=0)])
        result = await bench.turn("go")
        assert result.stop_reason == "failed"
        assert result.error is not None
        assert f"turn.timeoutSeconds ({seconds} s)" in result.error.message
        if any(event.status == "running" for event in bench.kinds("tool_call")):
            break
    messages = (await bench.session.read(result.chat_id)).messages
    check(messages)
    assert "may or may not have taken effect" in messages[2].content
    await bench.reopen(turn={"timeoutSeconds": 60}, permissions=allowed)
    assert (await bench.turn("quick", result.chat_id)).stop_reason == "finished"


@pytest.mark.parametrize("ticks", range(0, 24, 8))
async def test_a_steer_is_never_lost_nor_told_twice(bench: Bench, ticks: int):
    """Whenever the cancel comes: in the round, or returned at its end."""
    running = await begun(bench, bench.act("LS", {}, delay=0.02), bench.finish("ok", times=0))
    for text in ("STEERONE", "STEERTWO"):
        await bench.session.steer(running.chat_id, text)
    await until(lambda: any(event.status == "completed" for event in bench.kinds("tool_call")))
    for _ in range(ticks):
        await asyncio.sleep(0)
    running.cancel()
    await running.result()
    await bench.turn("next", running.chat_id, replies=[bench.finish("ok")])
    ends = {event.text: event.state for event in bench.kinds("steer")}
    for mark in ("STEERONE", "STEERTWO"):
        assert ends[mark] in {"told", "returned"}
        assert texts(bench.sent()).count(mark) == (ends[mark] == "told")
    check((await bench.session.read(running.chat_id)).messages)
    await agree(bench, running.chat_id)


@pytest.mark.parametrize("how", ["edit", "delete", "touch", "crlf"])
async def test_changes_on_the_disk_are_told_once_and_only_when_they_are_some(bench: Bench, how: str):
    path = bench.root / "a.py"
    path.write_text("one\n")
    bench.vendor.reset(
        [bench.act("Read", {"path": "a.py"}), *[bench.act("LS", {}, delay=0.03)] * 3, bench.finish("ok")]
    )
    running = await bench.session.send(None, "go")
    await until(lambda: len(bench.vendor.messages) == 2)
    match how:
        case "edit" | "crlf":
            path.write_bytes(b"two\n" if how == "edit" else b"one\r\n")
        case "delete":
            path.unlink()
        case _:
            path.touch()
    await running.result()
    reported = texts(bench.sent()).count("The user changed a.py since you read it.")
    assert reported == (0 if how == "touch" else 1)


@pytest.mark.parametrize(
    ("kept", "pieces", "whole"),
    [
        (
            "The answer is",
            [" 42, and that", " is all there is to say."],
            "The answer is 42, and that is all there is to say.",
        ),
        ("I", [" Inside it is dark, very dark indeed."], "I Inside it is dark, very dark indeed."),
        ("Thought: a b c", ["Thought: a b c d and", " so on, for long."], "Thought: a b c d and so on, for long."),
        (
            "No label, but long enough here",
            ["\n\nNo label, but long", " enough here, again."],
            "\n\nNo label, but long enough here, again.",
        ),
        ("Short", ["er"], "Shorter"),
        ("", ["x"], "x"),
    ],
)
def test_a_continuation_is_joined_and_a_model_that_starts_over_replaces(kept: str, pieces: list[str], whole: str):
    joint = Joint(kept)
    read = "".join([*map(joint.feed, pieces), joint.end()])
    assert joint.text == read == whole
