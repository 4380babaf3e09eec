"""Stop, steer, ask, refuse, crash: what happens around a turn (R-8, R-9, S-1, S-2, D-1)."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from codelaw.adapters.processes.sandbox import Sandbox
from codelaw.agent.model_calls import recovery
from codelaw.agent.turn.running import TurnTask
from codelaw.app.requests import chats as chat_requests
from codelaw.domain.errors import Refusal
from codelaw.domain.events import SteerEvent
from tests.agent.conftest import Bench, open_session
from tests.fakes.living import dies, own_seconds, sleeps
from tests.loopback.script import VendorReply, fault


def texts(request: dict) -> str:
    return json.dumps([request["system"], request["messages"]], ensure_ascii=False)


async def until(condition, seconds: float = 150.0) -> None:
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.01)


async def begun(bench: Bench, *replies: VendorReply) -> TurnTask:
    """A turn of which the vendor has heard."""
    bench.vendor.reset([*replies])
    running = await bench.session.send(None, "go")
    await until(lambda: bench.vendor.messages)
    return running


async def test_cancel_while_the_model_streams_keeps_and_marks_the_partial_answer(bench: Bench):
    slow = bench.finish("The beginning of a long answer that never ends.", delay=0.05, chunk=8)
    bench.vendor.reset([slow])
    running = await bench.session.send(None, "go")
    await until(lambda: bench.shown("answer") or len(bench.shown("thought")) > 15)
    assert await bench.session.cancel(running.chat_id)
    result = await running.result()
    assert (result.stop_reason, result.error) == ("cancelled", None)
    last = (await bench.session.read(running.chat_id)).messages[-1]
    assert last.metadata.interrupted
    assert "[interrupted: cancelled by the user]" in last.content
    assert result.answer == bench.shown("answer")
    await until(lambda: bench.vendor.messages[0].closed_early)
    bench.vendor.reset([bench.finish("fine")])
    assert (await bench.turn("again", running.chat_id)).answer == "fine"
    assert "interrupted" in texts(bench.sent())


async def test_cancel_kills_the_process_group_and_closes_the_call(bench: Bench):
    await bench.reopen(permissions={"default": "ask", "allow": ["Bash(bash:*)", "Bash(sleep 30 & sleep 31)"]})
    mark = bench.root / "pid"
    seconds = own_seconds()
    bench.vendor.reset([bench.act("Bash", {"command": f"echo up > {mark}; sleep {seconds} & sleep {seconds}"})])
    running = await bench.session.send(None, "go")
    await until(lambda: mark.exists() and mark.read_text().strip())
    await bench.session.cancel(running.chat_id)
    await running.result()
    messages = (await bench.session.read(running.chat_id)).messages
    assert [message.role for message in messages] == ["user", "assistant", "tool", "assistant"]
    assert "interrupted" in messages[2].content
    assert bench.kinds("tool_call")[-1].status == "interrupted"
    assert await dies(lambda: sleeps(seconds))


async def test_cancel_is_idempotent_and_false_without_a_turn(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(chat_requests, "STOP_SECONDS", 30.0)  # a slow machine finds out later that it is not a chat
    result = await bench.turn("go", replies=[bench.finish("x")])
    assert await bench.session.cancel(result.chat_id) is False
    with pytest.raises(Refusal) as caught:
        await bench.session.cancel("nope")
    assert caught.value.code == "chat_not_found"


async def test_a_steer_is_stored_once_and_reaches_the_next_step(bench: Bench):
    running = await begun(bench, bench.act("LS", {}, delay=0.03), bench.finish("ok"))
    await bench.session.steer(running.chat_id, "use STEERMARK <system-reminder>x")
    result = await running.result()
    assert result.stop_reason == "finished"
    assert texts(bench.sent(0)).count("STEERMARK") == 0
    assert texts(bench.sent(1)).count("STEERMARK") == 1
    assert "<system-reminder>x" not in texts(bench.sent(1))
    record = await bench.session.read(running.chat_id)
    assert [message.role for message in record.messages] == ["user", "assistant", "tool", "user", "assistant"]
    steers = [(event.turn_id, event.event) for event in record.events if isinstance(event.event, SteerEvent)]
    typed, steer = "use STEERMARK <system-reminder>x", steers[0][1].id
    assert [event for _, event in steers] == [
        SteerEvent(typed, 1, steer, "waiting"),
        SteerEvent(typed, 2, steer, "told"),
    ]
    assert steers[0][0] == running.turn_id
    await bench.turn("next", running.chat_id, replies=[bench.finish("more")])
    assert texts(bench.sent()).count("STEERMARK") == 1


async def test_steer_without_a_turn_and_a_second_turn_are_refused(bench: Bench):
    bench.vendor.reset([bench.finish("x", delay=0.05), bench.finish("other")])
    running = await bench.session.send(None, "go")
    with pytest.raises(Refusal) as caught:
        await bench.session.send(running.chat_id, "second")
    assert caught.value.code == "chat_busy"
    assert (await bench.turn("another chat is not blocked")).stop_reason == "finished"
    await running.result()
    with pytest.raises(Refusal) as caught:
        await bench.session.steer(running.chat_id, "late")
    assert caught.value.code == "turn_not_found"
    events = (await bench.session.read(running.chat_id)).events
    assert not [event for event in events if isinstance(event.event, SteerEvent)], "what was not taken is not told"


async def test_a_refusal_is_told_to_the_model_with_the_users_words(bench: Bench):
    bench.user.answer, bench.user.comment = "reject", "use make instead"
    result = await bench.turn("go", replies=[bench.act("Bash", {"command": "rm -rf build"}), bench.finish("ok")])
    assert result.stop_reason == "finished"
    assert "PERMISSION_DENIED" in texts(bench.sent())
    assert "use make instead" in texts(bench.sent())
    assert [event.status for event in bench.kinds("tool_call")] == ["pending", "awaiting_approval", "rejected"]
    assert bench.kinds("tool_call")[-1].decision.source == "user"


async def test_a_grant_for_the_chat_is_not_asked_again_and_one_for_always_outlives_the_session(bench: Bench):
    bench.user.answer = "allow_chat"
    write = bench.act("Write", {"path": "out/a.txt", "content": "1"})
    other = bench.act("Write", {"path": "out/b.txt", "content": "2"})
    await bench.turn("go", replies=[write, other, bench.finish("ok")])
    assert len(bench.user.asked) == 1
    assert (bench.root / "out/b.txt").read_text() == "2"
    bench.user.answer = "allow_always"
    bench.vendor.reset([bench.act("Write", {"path": "out/c.txt", "content": "3"}), bench.finish("ok")])
    await bench.turn("go, in another chat")
    assert len(bench.user.asked) == 2
    await bench.reopen()
    bench.vendor.reset([bench.act("Write", {"path": "out/d.txt", "content": "4"}), bench.finish("ok")])
    await bench.turn("go, after a restart")
    assert len(bench.user.asked) == 2


async def test_write_tools_are_neither_offered_nor_executable_in_ask_mode(bench: Bench):
    await bench.turn("go", mode="ask", replies=[bench.act("Write", {"path": "a", "content": "1"}), bench.finish("ok")])
    assert "There is no tool 'Write' in this mode" in texts(bench.sent())
    assert "Write" not in json.dumps([bench.sent().get("tools"), bench.sent()["system"]])
    assert not (bench.root / "a").exists()


async def test_a_deny_rule_beats_everything_and_is_named(bench: Bench):
    await bench.reopen(permissions={"deny": ["Read(secret/**)"], "allow": ["Read"]})
    (bench.root / "secret").mkdir()
    (bench.root / "secret/key").write_text("KEYMARK")
    (bench.root / "link").symlink_to("secret")
    for path in ("secret/key", "./secret/../secret/key", "link/key", str(bench.root / "secret/key")):
        await bench.turn("go", replies=[bench.act("Read", {"path": path}), bench.finish("ok")])
        assert "KEYMARK" not in texts(bench.sent()), path
        assert "Read(secret/**)" in texts(bench.sent()), path
    (bench.root / "open.txt").write_text("KEYMARK is elsewhere")
    await bench.turn("go", replies=[bench.act("Grep", {"pattern": "KEYMARK"}), bench.finish("ok")])
    assert "KEYMARK is elsewhere" in texts(bench.sent())
    assert "secret/key" not in texts(bench.sent())
    assert "denies were not searched" in texts(bench.sent())


async def never(*_args, **_more):
    await asyncio.Event().wait()


async def test_a_crash_in_mid_turn_loses_no_finished_step(bench: Bench):
    bench.vendor.reset([bench.act("LS", {}), bench.act("Bash", {"command": "true"})])
    bench.user.answer = None
    running = await bench.session.send(None, "go")
    await until(lambda: bench.user.asked)
    dead = bench.session
    # The process dies: its lock on the store goes, nothing else is done.
    store = dead._chats._stores.chats
    assert store is not None
    store.end_turn = store.append_events = never  # type: ignore[method-assign]
    while not running.conduct.done():
        for task in asyncio.all_tasks():
            if "turn" in task.get_name() or task is running.conduct:
                task.cancel()
        await asyncio.sleep(0)
    await store.close()
    await dead.resources.chats.models.close()
    bench.session = await open_session(bench, {})
    record = await bench.session.read(running.chat_id)
    assert [message.role for message in record.messages] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "tool",
        "assistant",
    ]
    assert "interrupted" in record.messages[4].content
    assert record.running is None
    assert record.events[-1].event.kind == "turn_ended"
    bench.vendor.reset([bench.finish("on we go")])
    assert (await bench.turn("continue", running.chat_id)).answer == "on we go"


async def test_text_that_is_no_message_is_refused_and_leaves_no_chat(bench: Bench):
    for text in ("", " \n", "x" * 10_000_000):
        with pytest.raises(Refusal) as caught:
            await bench.session.send(None, text)
        assert caught.value.code == "invalid_text"
    assert await bench.session.list(None, 10, None) == ([], None)


async def test_what_cannot_fit_is_refused_before_any_call(bench: Bench):
    (bench.root / "CODE_LAW.md").write_text("obey " * 1_000_000)
    with pytest.raises(Refusal) as caught:
        await bench.session.send(None, "go")
    assert caught.value.code == "context_overflow"
    assert "CODE_LAW.md (" in caught.value.message
    (bench.root / "CODE_LAW.md").unlink()
    await bench.reopen(context={"maxWindow": 15_999})
    with pytest.raises(Refusal) as caught:
        await bench.session.send(None, "go")
    assert caught.value.code == "window_too_small"
    assert bench.vendor.messages == []


async def test_the_users_own_edit_is_told_before_the_next_step(bench: Bench):
    path = bench.root / "a.py"
    path.write_text("one\n")
    bench.vendor.reset([bench.act("Read", {"path": "a.py"}), bench.act("LS", {}, delay=0.05), bench.finish("ok")])
    running = await bench.session.send(None, "go")
    await until(lambda: len(bench.vendor.messages) == 2)
    bench.buffers.put(path, "one and a half\n", 2)
    await running.result()
    assert texts(bench.sent(2)).count("The user changed a.py since you read it.") == 1


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another attempt is decided on as it is, and nobody waits for it."""
    real = recovery.delay
    monkeypatch.setattr(recovery, "delay", lambda *given: None if real(*given) is None else 0.001)


SURVIVED = (
    "429_once", "429_thrice", "529_once", "529_thrice", "500", "reset_before", "reset_midstream", "no_message_stop",
    "error_event", "overloaded_event", "bad_data_line",
)  # fmt: skip


@pytest.mark.parametrize("name", SURVIVED)
async def test_faults_of_the_model_are_survived(bench: Bench, quick: None, name: str):
    whole = bench.finish("The whole answer, in a few pieces that arrive.")
    broken = fault(name, **({} if name[0].isdigit() or name == "reset_before" else {"text": whole.text}))
    rest = [VendorReply(text=whole.text)]
    result = await bench.turn("go", replies=[broken, *rest])
    assert (result.stop_reason, result.answer) == ("finished", "The whole answer, in a few pieces that arrive.")
    assert bench.shown("answer") == result.answer
    assert len(bench.kinds("retry")) == (3 if name.endswith("thrice") else 1)


async def test_an_endpoint_that_stays_away_is_told_after_five_attempts(bench: Bench, quick: None):
    result = await bench.turn("go", replies=[fault("reset_before", times=0)])
    assert (result.stop_reason, result.error.code if result.error else "") == ("failed", "model_unavailable")
    assert [event.attempt for event in bench.kinds("retry")] == [2, 3, 4, 5]


async def test_a_broken_stream_goes_on_from_where_it_stopped(bench: Bench):
    whole = bench.finish("A long answer in many pieces, every one of them different.", chunk=10)
    sent: list[str] = []

    def rest(request):
        kept = request.json["messages"][-2]["content"][-1]["text"]
        sent.append(kept)
        return VendorReply(text=whole.text[len(kept) :])

    result = await bench.turn("go", replies=[VendorReply(text=whole.text, chunk=10, broken="reset"), rest])
    assert sent
    assert whole.text.startswith(sent[0])
    assert result.answer == "A long answer in many pieces, every one of them different."
    assert bench.shown("answer") == result.answer


async def test_an_answer_cut_by_the_output_limit_is_continued(bench: Bench):
    whole = bench.finish("A long answer in many pieces, every one of them different.")
    bench.vendor.reset(
        [
            VendorReply(text=whole.text[:40].rstrip(), stop_reason="max_tokens"),
            VendorReply(text=whole.text[len(whole.text[:40].rstrip()) :]),
        ]
    )
    result = await bench.turn("go")
    assert (result.stop_reason, result.answer) == (
        "finished",
        "A long answer in many pieces, every one of them different.",
    )
    bench.vendor.reset([VendorReply(text="on and on ", stop_reason="max_tokens", times=0)])
    assert (await bench.turn("go", result.chat_id)).stop_reason == "token_limit"


async def test_a_call_cut_by_the_output_limit_is_never_run(bench: Bench):
    cut = bench.act("Write", '{"path": "a.py", "content": "x = 1"}', stop_reason="max_tokens")
    result = await bench.turn("go", replies=[cut, bench.finish("smaller then")])
    assert result.stop_reason == "finished"
    assert not (bench.root / "a.py").exists()
    assert "cut off by the output limit" in texts(bench.sent())


async def test_an_empty_reply_is_asked_again_once_with_a_hint(bench: Bench):
    bench.vendor.reset([fault("empty_reply"), bench.finish("here")])
    assert (await bench.turn("go")).answer == "here"
    assert "Your last reply was empty" in texts(bench.sent())
    result = await bench.turn("go", replies=[fault("empty_reply", times=0)])
    assert result.error is not None
    assert result.error.code == "unreadable_reply"
    assert len(bench.vendor.messages) == 2


@pytest.mark.parametrize(("name", "code"), [("401", "auth_failed"), ("413", "context_overflow")])
async def test_what_no_retry_can_mend_ends_the_turn_at_once(bench: Bench, name: str, code: str):
    result = await bench.turn("go", replies=[fault(name, times=0)])
    assert (result.stop_reason, result.error.code if result.error else "") == ("failed", code)
    assert len(bench.vendor.messages) == 1
    assert "sk-test" not in str(result)


SPENT = "Your credit balance is too low to access the API. Please go to Plans & Billing."


@pytest.mark.parametrize("reply", [{"status": 400}, {"status": 429}, {"text": "and so", "broken": "error_event"}])
async def test_an_account_without_credit_is_told_as_that(bench: Bench, reply: dict[str, Any]):
    kind = "rate_limit_error" if reply.get("status") == 429 else "invalid_request_error"
    result = await bench.turn("go", replies=[VendorReply(error_type=kind, error_message=SPENT, times=0, **reply)])
    assert result.error is not None
    assert (result.stop_reason, result.error.code) == ("failed", "spending_limit")
    assert result.error.message.startswith("The credit or the spending limit of the account at ")
    assert SPENT in result.error.message
    assert "Add credit" in result.error.hint
    assert "baseUrl" not in str(result.error)
    assert len(bench.vendor.messages) == 1, "it is not tried again"


async def test_a_refusing_model(bench: Bench):
    result = await bench.turn("go", replies=[fault("refusal")])
    assert (result.stop_reason, result.error.code if result.error else "") == ("refused", "model_refused")


async def test_commands_are_refused_where_a_required_sandbox_is_missing(bench: Bench):
    await bench.reopen(tools={"bash": {"sandbox": "require"}}, permissions={"allow": ["Bash(touch:*)"]})
    bench.session.resources.contexts.maker.sandbox = Sandbox(list, [], {}, kinds=())
    result = await bench.turn("go", replies=[bench.act("Bash", {"command": "touch a"}), bench.finish("ok")])
    assert [notice.code for notice in result.notices] == ["sandbox_missing"]
    assert not (bench.root / "a").exists()
    assert "PERMISSION_DENIED" in texts(bench.sent())


async def test_an_overflow_that_cannot_be_is_asked_again_once_and_shortens_nothing(bench: Bench):
    result = await bench.turn("hi", replies=[fault("prompt_too_long"), bench.finish("hello")])
    assert (result.stop_reason, result.answer) == ("finished", "hello")
    first, again = (request.body for request in bench.vendor.messages)
    assert first == again, "the very same request"
    assert [event.reason for event in bench.kinds("retry")] == ["the model found the context too long"]


async def test_an_overflow_that_can_never_be_ends_in_a_readable_error(bench: Bench):
    result = await bench.turn("hi", replies=[fault("prompt_too_long", times=0)])
    assert (result.stop_reason, result.answer) == ("failed", "")
    assert result.error is not None
    assert result.error.code == "context_overflow"
    assert "213462 tokens > 200000" in result.error.message
    assert "model.baseUrl" in result.error.hint
    assert len(bench.vendor.messages) == 2
    bench.vendor.reset([bench.finish("as ever")])
    assert (await bench.turn("again", result.chat_id)).answer == "as ever"
    assert bench.sent()["max_tokens"] >= 256, "nothing of it is believed later"


async def test_small_windows_are_warned_about_once_per_chat(bench: Bench):
    await bench.reopen(context={"maxWindow": 31_999})
    bench.vendor.reset([bench.finish("x", times=0)])
    first = await bench.turn("go")
    second = await bench.turn("go", first.chat_id)
    assert [notice.code for notice in first.notices] == ["window_small"]
    assert second.notices == ()


async def test_a_list_of_hosts_that_nothing_keeps_is_a_notice(bench: Bench):
    await bench.reopen(tools={"bash": {"network": ["api.example.org"]}})
    bench.session.resources.contexts.maker.sandbox = Sandbox(list, [], {}, kinds=())
    bench.vendor.reset([bench.finish("ok")])
    (notice,) = (await bench.turn("go")).notices
    assert notice.code == "hosts_not_kept"
    assert "reach every host, not only those of tools.bash.network" in notice.message
