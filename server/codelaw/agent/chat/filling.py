"""Filling the vendor's cache anew, so that a chat's next answer begins sooner (L-6)."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from codelaw.agent.compaction.compaction_plan import savings
from codelaw.agent.inputs.surroundings import as_sent, gathered, select
from codelaw.context.builder import build
from codelaw.domain.errors import ModelFailure
from codelaw.domain.events import NoticeEvent
from codelaw.domain.models import ApiMessage, TextBlock

if TYPE_CHECKING:
    from codelaw.agent.chat.chat import AgentChat
    from codelaw.agent.inputs.turn_context import TurnInputs

LEAST = 20_000
"""Tokens of a request from which on a person would wait for it to be read anew."""
_UNASKED = ApiMessage("user", (TextBlock("…"),))
"""Stands behind the last breakpoint, where the next question will."""


async def fill(agent: AgentChat, inputs: TurnInputs) -> None:
    """Send what the next request will begin with, where the cache has surely lost it, and tell what that cost.

    What is old is shortened first, as a turn would do it (C-6). Cancelling stops it; nothing waits for it.
    """
    past = agent.past
    selection = await asyncio.to_thread(select, inputs, past.transcript, asked=0)
    state = await asyncio.to_thread(past.state, selection)
    if not inputs.caches or not state.shown or not state.cold(time.time(), "1h" if inputs.ttls else "5m"):
        return
    if selection.keeps_bytes:
        inputs, _ = as_sent(inputs, state.transcript, ())
    view = build(state.view, (), None, gathered(inputs, ()))
    if not selection.ignores_cuts:
        await past.shorten(
            await asyncio.to_thread(savings, state.transcript, state.shown, inputs, view.tokens, cold=True)
        )
        view = build(past.history(selection), (), None, gathered(inputs, ()))
    if inputs.corrected(view.tokens) < LEAST or not agent.idle:
        return
    request = inputs.dialect.request(
        view,
        model=inputs.model_name,
        max_tokens=0,
        toolbox=inputs.toolbox,
        after=(_UNASKED,),
    )
    try:
        usage = await inputs.model.fill(request)
    except ModelFailure as failure:
        agent.outbox.report(
            NoticeEvent("info", "cache_not_filled", f"The cache was not filled anew: {failure.message}")
        )
        return
    if usage is None:
        return
    past.last_active, past.ttl = time.time(), "5m"
    cost = "" if inputs.prices is None else f", for ${inputs.prices.cost(usage):.4f}"
    written = usage.cache_write_tokens
    words = f"The vendor's cache was filled anew after a pause: {written} tokens were written{cost}."
    agent.outbox.report(NoticeEvent("info", "cache_filled", words))
