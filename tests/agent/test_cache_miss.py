"""Why the vendor's cache gave less than it could have, in words that people understand (X-6)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from codelaw.agent.dialects.native import Native
from codelaw.agent.model_calls.caching import Sent, missed
from codelaw.agent.recording.turn_record import TurnRecord
from codelaw.agent.turn.model_call import Asker
from codelaw.context.sections import Section, View, message_section, text_section
from codelaw.domain.messages import Message
from codelaw.domain.models import CacheMiss, Delta, Heard, ModelReply, ModelRequest, StopReason, TextDelta, Usage
from codelaw.tools.toolbox import default_toolbox
from tests.agent.conftest import Bench
from tests.agent.planning import inputs_of
from tests.agent.talking import usage

ROUNDS = (Message("m1", "t1", "user", "one"), Message("m2", "t1", "tool", "a long result"))
SUMMARY = Message("s1", "t1", "summary", "what was said")


def view(
    *, core: str = "You are.", law: str = "Be terse.", rounds: tuple[Message, ...] = ROUNDS, more: Any = ()
) -> View:
    sections: tuple[Section, ...] = (text_section("L1", "core", core), text_section("L2", "law", law))
    return View((*sections, *more, message_section("L3", "history", rounds)))


def sent(shown: View | None = None, *, read: int = 0, at: float = 0.0, said: str = "", **more: Any) -> Sent:
    """A request of 50 000 tokens, of which so many were read."""
    reply = ModelReply("", "end_turn", Usage(100, read, 50_000 - read, 10), cache_miss=said)
    known: dict[str, Any] = {"model": "m", "tools": ("Read",), "ttl": "5m", "begun": at, **more}
    return Sent(view() if shown is None else shown, reply=reply, **known)


def words(now: Sent, before: Sent | None = None) -> str | None:
    found = missed(before or sent(), now)
    return None if found is None else found.words


def test_a_cache_that_gave_what_it_had_is_not_told():
    assert missed(None, sent()) is None, "the first request of a chat"
    assert words(sent(read=50_000)) is None
    assert words(sent(view(law="Be long."), read=46_000, said="system_changed")) is None, "little was lost"
    assert missed(replace(sent(), reply=ModelReply("", "end_turn")), sent(at=9_000)) is None, "there was no cache"


def test_the_vendor_says_which_part_changed_and_we_know_what_of_it():
    law, core = view(law="Be long."), view(core="You were.")
    assert missed(sent(), sent(law, said="system_changed")) == CacheMiss("system_changed", "the law changed")
    assert words(sent(core, said="system_changed")) == "the system prompt changed"
    assert words(sent(tools=("Read", "Grep"), said="tools_changed")) == "the tools changed"
    assert words(sent(model="n", said="model_changed")) == "the model changed"
    shorter = view(rounds=(ROUNDS[0], replace(ROUNDS[1], content="[a line]")))
    assert words(sent(shorter, said="messages_changed")) == "older results were shortened"
    assert words(sent(view(rounds=ROUNDS[1:]), said="messages_changed")) == "earlier messages were left out"
    compacted = view(rounds=ROUNDS[1:], more=(message_section("L3", "summaries", [SUMMARY]),))
    for part in ("system_changed", "messages_changed"):
        assert words(sent(compacted, said=part)) == "the chat was compacted"
    assert words(sent(said="messages_changed")) == "earlier messages changed", "it alone knows"
    assert words(sent(view(core="x", law="y"), said="tools_changed")) == "the tools changed"


def test_what_the_vendor_says_nothing_of_is_said_as_far_as_it_is_known():
    assert missed(sent(), sent(view(law="x"))) == CacheMiss("system_changed", "the law changed")
    for said in ("", "unavailable", "previous_message_not_found"):
        assert words(sent(said=said)) is None
        assert words(sent(said=said, at=420.0)) == "paused 7 minutes"
    assert missed(sent(), sent(at=420.0)) == CacheMiss("expired", "paused 7 minutes")


@pytest.mark.parametrize("dialect", ["native"], indirect=True)
async def test_a_changed_law_is_told_with_the_usage_and_in_the_turns_report(bench: Bench):
    law = bench.root / "CODE_LAW.md"
    law.write_text("Be terse.\n")
    bench.vendor.play(bench.finish("one", usage=usage(30_000)), bench.finish("two", usage=usage(30_000)))
    result = await bench.turn("one")
    assert result.cache_miss is None
    law.write_text("Be long.\n")
    assert (await bench.turn("two", result.chat_id)).cache_miss is None, "nothing was lost"
    law.write_text("Be terse again.\n")
    lost = {"input_tokens": 9, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 29_000, "output_tokens": 9}
    bench.vendor.play(bench.finish("three", usage=lost))
    result = await bench.turn("three", result.chat_id)
    assert result.cache_miss == CacheMiss("system_changed", "the law changed")
    assert [event.cache_miss for event in bench.kinds("usage")] == [None, None, result.cache_miss]


class Posted:
    """An outbox that nobody reads."""

    def post(self, turn_id: str, event: object) -> None:
        del turn_id, event


class Vendor:
    """A model that answers with an id each time, the first time in a reply that is cut."""

    def __init__(self) -> None:
        self.asked: list[str | None] = []

    async def reply(self, request: ModelRequest, on_delta: Callable[[Delta], Heard]) -> ModelReply:
        on_delta(TextDelta("A part of the answer."))
        self.asked.append(request.previous)
        stop: StopReason = "max_tokens" if len(self.asked) == 1 else "end_turn"
        return ModelReply("A part of the answer.", stop, id=f"msg_{len(self.asked)}")


@pytest.mark.parametrize(("diagnosed", "asked"), [(True, ["", "msg_1"]), (False, [None, None])])
async def test_each_request_names_the_reply_before_it_where_the_vendor_compares_them(diagnosed: bool, asked: list[Any]):
    nothing: Any = Posted()
    vendor: Any = Vendor()
    known = {"model": vendor, "dialect": Native(), "toolbox": default_toolbox(), "diagnosed": diagnosed}
    turn = TurnRecord("c", "t", Message("ask", "t", "user", "one"), nothing, nothing)
    shown = View((text_section("L1", "core", "You are."), message_section("turn", "question", [turn.question])))
    asker = Asker(turn, replace(inputs_of(200_000), **known), shown, 100)
    assert (await asker.ask()).reply.id == "msg_2"
    assert vendor.asked == asked
