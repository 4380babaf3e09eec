"""A turn of a chat: begun, run, ended whatever goes wrong in it, and stopped (R-1, R-8, R-10, D-1)."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import uuid4

from codelaw.agent.chat import crash_recovery as crash
from codelaw.agent.compaction.compaction_plan import savings
from codelaw.agent.inputs.surroundings import as_sent, gathered, select
from codelaw.agent.recording.pictures import rows_of
from codelaw.agent.recording.turn_record import TurnRecord
from codelaw.agent.subagents.running import ChildTurns
from codelaw.agent.turn.call import report
from codelaw.agent.turn.running import (
    FAILED,
    Ending,
    TurnRun,
    TurnTask,
    changed,
    ending_of,
    last_words,
    never_begun,
    result_of,
    tidy,
)
from codelaw.agent.turn.turn import TurnLoop
from codelaw.context.builder import build
from codelaw.domain.chats import StoredTurn, TurnError, TurnResult
from codelaw.domain.errors import ModelFailure, Refusal
from codelaw.domain.events import NoticeEvent, TurnEnded
from codelaw.domain.messages import Message
from codelaw.domain.models import ApiMessage, TextBlock
from codelaw.tools.base import ToolEnvironment
from codelaw.tools.reading.web_fetch import named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codelaw.agent.chat.chat import AgentChat
    from codelaw.agent.chat.leaving import Leaving
    from codelaw.agent.inputs.gathering import UserMessage
    from codelaw.agent.inputs.turn_context import TurnInputs
    from codelaw.agent.turn.pending import QueuedSteer
    from codelaw.domain.chats import Notice
    from codelaw.domain.media.images import Picture

_log = logging.getLogger(__name__)


async def start(
    agent: AgentChat,
    question: UserMessage,
    typed: str,
    inputs: TurnInputs | None,
    notices: Sequence[Notice] = (),
    *,
    leaving: Leaving | None = None,
    steers: tuple[str, ...] = (),
) -> TurnTask:
    """Store the question, made of `steers`, and run the turn, `leaving` first; the chat must have been claimed.

    Without `inputs` it was cancelled while it began, and ends so (R-8).
    """
    turn_id = uuid4().hex[:12]
    user = Message(f"ask_{turn_id}", turn_id, "user", question.content, question.metadata)
    stored = StoredTurn(turn_id, agent.chat.id, "running", agent.house.store.owner, time.time())
    try:
        await _store_beginning(agent, stored, user, question.pictures)
    finally:
        agent.release()
    try:
        agent.running = running = TurnTask(agent.chat.id, turn_id)
        agent.pending.drop(steer for steer in agent.pending.waiting if steer.id in steers)
        known = (agent.chat.id, turn_id, user, agent.house.store, agent.outbox, agent.refs)
        record = TurnRecord(*known, noticed=agent.noticed)
        agent.opened = record
        agent.outbox.turn = turn_id
        record.emit(question.started(typed, steers))
        for notice in notices:
            record.notice(notice)
        run = None if inputs is None else _run_of(agent, record, typed, inputs)
        work = never_begun() if run is None else _work(agent, run, leaving)
        running.work = asyncio.create_task(work, name=f"turn {turn_id}")
        running.conduct = asyncio.create_task(_conduct(agent, running.work, record, run, stored))
    except Exception:  # a bug must not leave the chat busy for ever
        agent.owed, agent.loaded = (crash.ended(stored), crash.last_words(stored, [])), False
        if agent.opened is not None:
            agent.outbox.post(turn_id, TurnEnded(result_of(agent.opened, Ending("failed", error=FAILED))))
        _free(agent)
        raise
    return running


async def _store_beginning(agent: AgentChat, turn: StoredTurn, user: Message, pictures: Sequence[Picture]) -> None:
    await agent.settle()
    kept = await asyncio.to_thread(rows_of, pictures) if pictures else []
    await agent.outbox.reserve()
    try:
        before = await agent.house.store.begin_turn(turn, user, kept)
        if before != agent.chat.turns:  # another server was here since the last look
            await agent.load(own=turn.id)
    except BaseException as error:
        # It may have begun although the store failed, and nobody else would end it.
        if not isinstance(error, Refusal) or error.code != "chat_busy":
            agent.owed = crash.ended(turn), crash.last_words(turn, [])
        raise
    agent.chat = replace(agent.chat, turns=before + 1)


def _run_of(agent: AgentChat, record: TurnRecord, typed: str, inputs: TurnInputs) -> TurnRun:
    """What the turn works on, with what this chat's tools may use."""

    async def result(ref: str) -> dict[str, object] | None:
        return agent.past.result(ref) or (await agent.house.store.results(agent.chat.id, [ref])).get(ref)

    house, memory = agent.house, agent.house.memory
    # The addresses that the user has named: in what is sent now, and in all that was (T-8).
    said = (message for message in agent.past.transcript.messages if message.role == "user")
    urls = named((typed, *(one.content for one in said if one.metadata.note in {None, "steer"})))
    environment = ToolEnvironment(
        workspace=house.workspace,
        processes=house.processes,
        ledger=agent.ledger,
        results=result,
        todos=agent.todos,
        tree=agent.tree,
        services=house.services,
        memory=memory if memory is not None and memory.limits.enabled else None,
        skills=inputs.skills,
        code=house.code,
        named_urls=urls,
        servers=house.servers,
        sees=inputs.sees,
    )
    return TurnRun(
        record=record,
        inputs=inputs,
        typed=typed,
        chat=agent.chat,
        house=house,
        gate=agent.gate,
        pending=agent.pending,
        past=agent.past,
        compacting=agent.compacting,
        environment=environment,
    )


async def _work(agent: AgentChat, run: TurnRun, leaving: Leaving | None) -> Ending:
    """Run the turn, after the question where there is one. Never raises but for a second cancel."""
    if leaving is not None:
        settled = await leaving.settled(run.record, run.inputs)
        if isinstance(settled, Ending):
            return settled
        run = replace(run, inputs=settled)
    run.record.inputs = agent.rolling.inputs = run.inputs
    if run.inputs.agents is not None:
        run.environment = replace(run.environment, subagents=ChildTurns(run, run.inputs.agents))
    return await TurnLoop(run).ending()


async def _conduct(
    agent: AgentChat, work: asyncio.Task[Ending], record: TurnRecord, run: TurnRun | None, stored: StoredTurn
) -> TurnResult:
    ending = await ending_of(work, record.id)
    try:
        result = await _conclude(agent, ending, record, run, stored)
    except Exception:  # noqa: BLE001 - a bug must not leave the chat busy for ever (R-10)
        _log.exception("turn %s could not be concluded", record.id)
        agent.owed = agent.owed or (crash.ended(stored), crash.last_words(stored, record.record))
        agent.loaded = False
        result = result_of(record, Ending("failed", error=FAILED))
    try:
        agent.pending.heard(record)
        if result.stop_reason != "finished":
            agent.give_back(record.id)
    finally:
        agent.outbox.post(record.id, TurnEnded(result))
        agent.refs = record.refs
        _free(agent)
    agent.ended, agent.followed = record.id, None
    if steers := agent.pending.waiting:
        for steer in steers:
            steer.taken = True
        # Nothing else may start in the chat until that has.
        agent.starting = True
        agent.following = asyncio.create_task(_follow(agent, steers), name=f"next turn of {agent.chat.id}")
    await agent.outbox.drain()
    await tidy(agent.house.store, agent.chat.id, record.id)
    agent.rolling.after_turn(agent.house.measures.known)
    if agent.house.embedding is not None:
        agent.house.embedding.kick(agent.chat.id)
    return result


async def _follow(agent: AgentChat, steers: Sequence[QueuedSteer]) -> None:
    """Start the turn that waiting steers become (R-9)."""
    problem: NoticeEvent | None = None
    try:
        agent.followed = await agent.follow(agent, steers)
    except Refusal as refusal:
        problem = NoticeEvent("error", refusal.code, f"{refusal.message} {refusal.hint}".strip())
    except Exception:  # noqa: BLE001 - a bug must not keep the user's words from them (R-10)
        _log.exception("the next turn of chat %s could not be started", agent.chat.id)
        problem = NoticeEvent("error", "internal_error", "codelaw failed inside; the log says why.")
    finally:
        if problem is not None:
            agent.outbox.post("", problem)
            agent.give_back(agent.ended)
        agent.following = None
        agent.release()


def _free(agent: AgentChat) -> None:
    agent.running = agent.opened = None
    agent.outbox.turn = ""


async def _conclude(
    agent: AgentChat, ending: Ending, record: TurnRecord, run: TurnRun | None, stored: StoredTurn
) -> TurnResult:
    agent.loaded &= await record.recall()
    left = [call for _, call in record.open_calls()]
    last = last_words(record, ending)
    ended = replace(stored, status="ended", last_usage=record.last_usage, stop_reason=ending.stop)
    plain = crash.ended(stored), crash.last_words(stored, record.record)
    error = await _write_end(agent, (ended, last), plain)
    if error is not None:
        ending = replace(ending, stop="failed", error=error)
    for call in left:
        if run is not None:
            report(run, call, "interrupted")
    said, known = [record.question, *record.record, *last], (record.id, stored.started_at, record.last_usage)
    agent.past.ended(said, *known, time.time(), reported=record.reported, asides=record.asides)
    await agent.past.shorten((*record.gave_way(), *agent.past.refused(record.refused)))
    return result_of(record, ending, await changed(record))


async def _write_end(
    agent: AgentChat, end: tuple[StoredTurn, list[Message]], plain: tuple[StoredTurn, list[Message]]
) -> TurnError | None:
    """Store a turn's end; what the store cannot take is owed to it, in `plain` words where it never will."""
    agent.owed, todos = end, agent.todos
    error: TurnError | None = None
    try:
        await agent.settle()
        if todos.now != todos.saved:
            await todos.save(agent.house.store, agent.chat.id)
    except Refusal as refusal:
        error = TurnError(refusal.code, refusal.message, refusal.hint)
    except Exception:  # noqa: BLE001 - a bug must not leave the chat busy for ever (R-10)
        _log.exception("the end of turn %s could not be stored", end[0].id)
        agent.owed, error = agent.owed and plain, FAILED
    todos.now = todos.saved
    return error


def halt(agent: AgentChat) -> asyncio.Task[None] | None:
    """Stop the turn and the compaction that run, and a turn that is about to follow; None: there is none (R-8).

    What begins later is left alone. The task ends when all of it has ended, and is not to be cancelled.
    """
    turn = agent.running
    if turn is None and agent.following is None and not agent.compacting.in_flight:
        return None
    if turn is not None:
        turn.cancel()
    # Seen now: it may have begun by the time that the task runs.
    before = agent.ended if agent.following is not None else None
    return asyncio.create_task(_halted(agent, turn, before), name=f"stop of chat {agent.chat.id}")


async def _halted(agent: AgentChat, turn: TurnTask | None, before: str | None) -> None:
    """`before` is the turn that the one about to begin follows."""
    await agent.compacting.cancel()
    if turn is None and before is not None:
        turn = await agent.next(before)
    while turn is not None:
        turn.cancel()
        await turn.result()
        turn = await agent.next(turn.turn_id)


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
    if not inputs.caches or not state.shown or not state.cold(time.time(), "1h" if inputs.ttls else "5m", inputs.lasts):
        return
    if selection.keeps_bytes:
        inputs, _ = as_sent(inputs, state.transcript, ())
    view = build(state.view, (), None, gathered(inputs, ()))
    if not selection.ignores_cuts:
        await past.shorten(
            await asyncio.to_thread(savings, state.transcript, state.shown, inputs, view.tokens, cold=True)
        )
        view = build(past.state(selection).view, (), None, gathered(inputs, ()))
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
