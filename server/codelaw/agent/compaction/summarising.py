"""Asking a model for the summary of what is archived, and who hears of it and pays for it (K-4, K-5)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from codelaw.agent.dialects.base import Dialect, stripped
from codelaw.agent.dialects.react import React
from codelaw.agent.inputs.turn_context import TurnInputs
from codelaw.agent.model_calls.recovery import NextAttempt, Recovery
from codelaw.agent.recording.outbox import Outbox
from codelaw.agent.recording.turn_record import TurnRecord
from codelaw.context.builder import Gathered, History, build
from codelaw.context.sections import message_tokens, text_section
from codelaw.context.shortening.compressor import middle_out
from codelaw.context.shortening.demotion import demoted
from codelaw.context.tokens import estimate, far_off
from codelaw.domain.chats import Notice
from codelaw.domain.checkpoints import Demotion
from codelaw.domain.errors import ModelFailure
from codelaw.domain.events import CompactionEvent, NoticeEvent
from codelaw.domain.messages import Message
from codelaw.domain.models import ModelReply, ModelRequest, Usage
from codelaw.ports.model import ChatModel
from codelaw.templates.render import render
from codelaw.transcript.summaries.summary import Border, Sizes, border, instruction
from codelaw.transcript.summaries.summary_check import BadSummary, check
from codelaw.transcript.transcript import Round, rounds

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Audience:
    """One compaction's."""

    outbox: Outbox
    turn: TurnRecord | None
    """None for a compaction that a person has asked for."""

    def hears(self, event: CompactionEvent) -> None:
        """The compaction has come to another phase."""
        report = self.outbox.report if self.turn is None else self.turn.emit
        report(event)

    def warned(self, code: str, message: str) -> None:
        """Something went wrong that stops nothing."""
        self._notice(Notice("warning", code, message))

    def waits(self, retry: NextAttempt) -> None:
        """The summary is asked for again."""
        message = f"The summary is asked for again in {retry.seconds:.0f} s ({retry.attempt}): {retry.reason}."
        self._notice(Notice("info", "summary_retry", message))

    def pays(self, usage: Usage) -> None:
        """What was billed for one request."""
        if self.turn is not None:
            self.turn.spend(usage)

    def _notice(self, notice: Notice) -> None:
        if self.turn is not None:
            self.turn.notice(notice)
        else:
            self.outbox.report(NoticeEvent(notice.level, notice.code, notice.message))


@dataclass(slots=True)
class SummaryCalls:
    """Calls for texts that are shown when they are whole."""

    model: ChatModel
    audience: Audience | None = None
    """Who is told of waits; None: the log."""
    spent: Usage = field(default_factory=Usage)
    """What was billed, failed attempts included."""

    async def reply(self, request: ModelRequest) -> ModelReply:
        """The whole reply; a broken one is asked for again from its beginning, since it is short.

        Raises:
            ModelFailure: none could be had.
        """
        recovery = Recovery()
        while True:
            try:
                reply = await self.model.reply(request, lambda _: None)
            except ModelFailure as failure:
                self._spend(failure.usage)
                if failure.kind == "items" and (bare := stripped(request)) != request:
                    request = bare
                    continue
                retry = recovery.after(failure)
            else:
                self._spend(reply.usage)
                return reply
            if self.audience is not None:
                self.audience.waits(retry)
            else:
                _log.info("a summary is asked for again: %s", retry)
            await asyncio.sleep(retry.seconds)

    def _spend(self, usage: Usage) -> None:
        self.spent += usage
        if self.audience is not None:
            self.audience.pays(usage)


ATTEMPTS = 2
"""How often a summary is asked for that turns out to be unusable (K-5)."""
STAGES = 4
"""Most parts that an archive too long for one call is folded into."""
WORTH_READING = 20_000
"""Tokens of an archive from which its call shows all that is in the cache, instead of writing the archive anew."""
SHRINKS = 3
"""Most attempts to fold it, each with smaller parts."""
_SAFETY = 0.9
"""Of the window: estimates are not exact."""


@dataclass(frozen=True, slots=True)
class SummaryPrompt:
    """What a summary is asked for with."""

    inputs: TurnInputs
    past: History
    around: Gathered
    dialect: Dialect
    model: str
    window: int | None = None
    """Tokens that it must fit into, with the answer; None where it was cut to fit."""

    @classmethod
    def fresh(cls, inputs: TurnInputs, system: str, said: Sequence[Message] = ()) -> SummaryPrompt:
        """A conversation of its own, which was cut to fit."""
        around = Gathered((text_section("L1", "summariser", system),))
        return cls(inputs, History.of(said), around, React(), inputs.settings.summary_model or inputs.model_name)

    def request(self, asked: str, most: int) -> ModelRequest:
        """The prompt with the words that end it, for a reply of at most so many tokens.

        Raises:
            ModelFailure: `overflow`: it does not fit into the prompt's window.
        """
        inputs = self.inputs
        view = build(self.past, (), Message("summary_instruction", "", "user", asked), self.around)
        tokens = inputs.corrected(view.tokens) + most
        if self.window is not None and tokens > self.window:
            raise ModelFailure("overflow", "The archived rounds do not fit into one call.")
        made = self.dialect.request(view, model=self.model, max_tokens=most, toolbox=inputs.toolbox)
        if self.window is not None:  # as the turns before it, whose cache it reads
            return inputs.manner.on(made, inputs.output(tokens))
        return inputs.summary_manner.on(made, inputs.summary_output(tokens))


@dataclass(slots=True)
class Summariser:
    """Writes one summary."""

    inputs: TurnInputs
    sizes: Sizes
    calls: SummaryCalls

    async def write(self, history: History, archived: Sequence[Message], *, warm: bool) -> str:
        """The model's text, checked. `archived` are the first messages of `history`, as the view has them.

        With the chat's own model the call repeats what was sent before, so that the prompt cache is read; else, and
        when that does not fit, a fresh conversation is asked, in stages if need be. A `warm` cache ends where the last
        turn began, not at the cut: for a large archive all up to there is shown, at a tenth of the price, and the model
        is told where the archive ends.

        Raises:
            BadSummary: unusable twice, or too long even in stages.
            ModelFailure: the model did not answer.
        """
        limit = None
        if self.inputs.settings.summary_model in {None, self.inputs.model_name}:
            try:
                return await self._good(*self._extending(history, archived, warm=warm), archived)
            except ModelFailure as failure:
                if failure.kind != "overflow":
                    raise
                limit = self._limit(failure, archived)
        return await self._in_stages(archived, limit)

    def _extending(self, history: History, archived: Sequence[Message], *, warm: bool) -> tuple[SummaryPrompt, str]:
        """A prompt that begins as the chat's last ones did: L1, L2, summaries, rounds (K-4)."""
        inputs = self.inputs
        summaries = history.summaries.messages if history.summaries else ()
        shown, until = archived, None
        said = [*history.rounds.messages] if history.rounds else []
        sent = [message for message in said if message.turn_id != said[-1].turn_id]
        if warm and len(sent) > len(archived) and sum(map(message_tokens, archived)) >= WORTH_READING:
            until = border(sent, len(archived))
            shown = sent if until is not None else archived
        past, around = History.of([*summaries, *shown]), Gathered(inputs.system, inputs.law)
        prompt = SummaryPrompt(inputs, past, around, inputs.dialect, inputs.model_name, window=inputs.limits.window)
        return prompt, self._instruction(until)

    async def _in_stages(self, archived: Sequence[Message], limit: int | None) -> str:
        """A fresh conversation over shortened tool texts, in smaller parts when even these do not fit."""
        window = min(limit or self.inputs.summary_window, self.inputs.summary_window)
        asked = self._instruction()
        room = int(window * _SAFETY) - self.sizes.max_tokens * 2 - self.inputs.corrected(estimate(asked)) - 500
        for number in range(1, SHRINKS + 1):
            try:
                return await self._staged(archived, max(room, 1_000))
            except ModelFailure as failure:
                if failure.kind != "overflow" or number == SHRINKS:
                    raise
                room = min(room // 2, self._limit(failure, archived) or room)
        raise AssertionError

    async def _staged(self, archived: Sequence[Message], room: int) -> str:
        """Folded, oldest first, in parts of at most `room` tokens; long messages may lose their middle."""
        results = {Demotion(message.id, part) for message in archived for part in ("result", "arguments")}
        parts = self._parts(rounds(demoted(archived, results)), room)
        parts = [*parts[: STAGES - 1], list(chain.from_iterable(parts[STAGES - 1 :]))]
        text = ""
        for part in filter(None, parts):
            said = [message for round_ in part for message in round_.messages]
            begun = [Message("draft", "", "user", render("draft", draft=text)), *said] if text else said
            prompt = SummaryPrompt.fresh(self.inputs, render("summariser"), self._trimmed(begun, room))
            text = await self._good(prompt, self._instruction(), said)
        return text

    def _limit(self, failure: ModelFailure, archived: Sequence[Message]) -> int | None:
        """What the vendor takes, as far as it said so and that can be (W-6)."""
        sent = sum(map(self._size, archived))
        return None if far_off(sent, failure.size, failure.limit) else failure.limit

    def _size(self, message: Message) -> int:
        return self.inputs.corrected(message_tokens(message))

    async def _good(self, prompt: SummaryPrompt, wanted: str, source: Sequence[Message]) -> str:
        """Ask, and ask once more when the reply cannot be used."""
        size = sum(map(message_tokens, source))
        asked = wanted
        for number in range(1, ATTEMPTS + 1):
            reply = await self.calls.reply(prompt.request(asked, self.sizes.max_tokens))
            try:
                return check(reply, limit_tokens=self.sizes.model_tokens, count=estimate, source_tokens=size)
            except BadSummary as bad:
                if number == ATTEMPTS:
                    raise
                asked = f"{wanted}\n\n{render('refused_summary', reason=str(bad))}"
        raise AssertionError

    def _instruction(self, until: Border | None = None) -> str:
        return instruction(limit_tokens=self.sizes.model_tokens, dialect=self.inputs.dialect.name, border=until)

    def _parts(self, archive: Sequence[Round], room: int) -> list[list[Round]]:
        """Rounds in as few parts as fit `room` tokens each; a round of its own where it is too long."""
        parts: list[list[Round]] = []
        used = room + 1
        for round_ in archive:
            tokens = sum(map(self._size, round_.messages))
            if used + tokens > room:
                parts.append([])
                used = 0
            parts[-1].append(round_)
            used += tokens
        return parts

    def _trimmed(self, messages: Sequence[Message], room: int) -> list[Message]:
        """The messages; the long ones without their middle when all do not fit into `room` tokens."""
        if sum(map(self._size, messages)) <= room:
            return list(messages)
        share = max(50, room // max(1, len(messages)))
        # Two characters for each token.
        return [
            replace(message, content=middle_out(message.content, share, share))
            if self._size(message) > share
            else message
            for message in messages
        ]
