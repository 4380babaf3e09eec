"""How a reply of a lent model ends that does not end by itself (P-7); the rest is in `scenarios/test_lent_models`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import pytest

from codelaw.adapters.models.lent import LentModel
from codelaw.domain.errors import ModelFailure
from codelaw.domain.messages import Call
from codelaw.domain.models import ApiMessage, ModelRequest, StopReason, TextBlock, TextDelta, ToolSchema
from codelaw.ports.lending import LentOffer, Part

ASKED = ModelRequest("editor/copilot/gpt-x", (), (ApiMessage("user", (TextBlock("Go."),)),), 100)
READ = Call("c1", "Read", {"path": "a.txt"})


class Silent:
    """Says its parts, and then nothing for ever."""

    def __init__(self, *parts: Part) -> None:
        self.parts, self.left = parts, False

    async def offers(self) -> Sequence[LentOffer]:
        return []

    async def ask(
        self, model: str, messages: Sequence[ApiMessage], tools: Sequence[ToolSchema], heard: Callable[[Part], None]
    ) -> StopReason:
        for part in self.parts:
            heard(part)
        try:
            await asyncio.Event().wait()
        finally:
            self.left = True
        return "end_turn"


async def test_one_that_falls_silent_is_left_with_what_it_said():
    lender = Silent(TextDelta("half an an"))
    with pytest.raises(ModelFailure, match="fell silent") as failed:
        await LentModel(lender, silence=0.05).reply(ASKED, lambda _: None)
    assert (failed.value.kind, failed.value.partial) == ("truncated", "half an an")
    assert lender.left


async def test_one_that_falls_silent_behind_a_whole_call_has_answered():
    lender = Silent(TextDelta("I look."), READ)
    reply = await LentModel(lender, silence=0.05).reply(ASKED, lambda _: None)
    assert (reply.text, reply.calls, reply.stop_reason) == ("I look.", (READ,), "closed")
    assert lender.left


async def test_one_that_says_too_much_is_left_at_once():
    lender = Silent(*[TextDelta("x" * 100_000)] * 12)
    with pytest.raises(ModelFailure, match="without end") as failed:
        await LentModel(lender).reply(ASKED, lambda _: None)
    assert failed.value.kind == "malformed"
    assert lender.left


async def test_what_is_not_needed_any_more_is_left_at_once():
    lender = Silent(TextDelta("enough"), TextDelta(" and more"))
    reply = await LentModel(lender).reply(ASKED, lambda delta: isinstance(delta, TextDelta))
    assert (reply.text, reply.stop_reason) == ("enough", "closed")
