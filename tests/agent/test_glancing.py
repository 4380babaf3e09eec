"""A page of a long chat costs the page (D-1)."""

from __future__ import annotations

from typing import Any

import pytest

from codelaw.adapters.stores.rows.reading import Reading
from codelaw.agent.recording.outbox import Outbox
from codelaw.app import chats as chats_in_memory
from codelaw.domain.events import TurnEnded
from codelaw.domain.messages import Message
from tests.agent.conftest import Bench
from tests.agent.test_control import until


async def long_chat(bench: Bench, turns: int) -> str:
    chat = (await bench.turn("MARK0", replies=[bench.finish("x", times=0)])).chat_id
    for number in range(1, turns):
        await bench.turn(f"MARK{number}", chat)
    return chat


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of the messages that were made of stored rows."""
    made: list[str] = []
    message = Reading.message

    def counted(self: Reading, row: tuple) -> Message | None:
        made.append(row[0])
        return message(self, row)

    monkeypatch.setattr(Reading, "message", counted)
    return made


async def test_a_page_makes_only_its_own_messages(
    bench: Bench, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chats_in_memory, "QUIET_SECONDS", 1000.0)
    chat = await long_chat(bench, 20)
    await bench.reopen()
    read.clear()
    newest = await bench.session.read(chat, turns=3)
    assert [message.content for message in newest.messages if message.role == "user"] == ["MARK17", "MARK18", "MARK19"]
    behind = 4  # the first look reads two turns for what a dead server may have left
    assert len(read) == len(newest.messages) + behind
    await bench.session.read(chat, turns=2, before_turn=newest.messages[0].turn_id)
    await bench.session.read(chat, since_seq=1, limit=0)
    assert len(read) < 20


@pytest.mark.parametrize("turns", [1, None])
async def test_the_end_of_a_turn_that_a_dead_server_had_not_told_is_told_once(
    bench: Bench, turns: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It died between storing the turn's end and telling it."""
    chat = await long_chat(bench, 1)
    post = Outbox.post
    with monkeypatch.context() as dying:
        dying.setattr(Outbox, "post", lambda box, turn, event: isinstance(event, TurnEnded) or post(box, turn, event))
        bench.vendor.play(bench.finish("the answer"))
        await bench.turn("MARK1", chat)
    for _ in range(2):
        await bench.reopen()
        record = await bench.session.read(chat, turns=turns)
        ends = [event.event for event in record.events if isinstance(event.event, TurnEnded)]
        assert [end.result.stop_reason for end in ends] == ["finished"] * (1 if turns else 2)
        assert ends[-1].result.answer == "the answer"


@pytest.mark.parametrize("asked", [{"turns": 5}, {"since_seq": 0, "limit": 0}, {}], ids=["page", "since", "whole"])
async def test_a_turn_that_ends_while_it_is_read_is_told_with_its_end(
    bench: Bench, asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.vendor.reset([bench.act("Bash", {"command": "true"}), bench.finish("x", times=0)])
    bench.user.answer = None
    running = await bench.session.send(None, "go")
    await until(lambda: bench.user.asked)
    store = await bench.session._chats.store()
    method = "page" if "turns" in asked else "events"
    real = getattr(store, method)

    async def ends_meanwhile(*args: object) -> object:
        found = await real(*args)
        if not running.conduct.done():
            running.cancel()
            await running.result()
        return found

    monkeypatch.setattr(store, method, ends_meanwhile)
    record = await bench.session.read(running.chat_id, **asked)
    assert record.running is None
    assert [one.event.kind for one in record.events if one.turn_id == running.turn_id][-1] == "turn_ended"
