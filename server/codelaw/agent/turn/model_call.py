"""One step's question to the model: streamed, resumed when it breaks, continued when it is cut (P-1, R-3, R-6)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, Self

from codelaw.agent.dialects.base import ParsedReply
from codelaw.agent.dialects.scanning import GrowingText
from codelaw.agent.model_calls.recovery import NextAttempt, Recovery
from codelaw.agent.recording.pictures import sent_with
from codelaw.context.tokens import estimate
from codelaw.domain.chats import Notice
from codelaw.domain.errors import ModelFailure
from codelaw.domain.events import AnswerDelta, RetryEvent, ThoughtDelta, ToolCallEvent
from codelaw.domain.messages import KeptItems, WebSearch
from codelaw.domain.models import (
    NO_IMAGES,
    ApiMessage,
    Begun,
    Delta,
    Heard,
    KeptBlock,
    ModelReply,
    ModelRequest,
    TextBlock,
    ThinkingDelta,
    Usage,
)
from codelaw.domain.safety.unseen import title
from codelaw.templates.render import render

if TYPE_CHECKING:
    from codelaw.agent.dialects.base import ReplyStream
    from codelaw.agent.inputs.turn_context import TurnInputs
    from codelaw.agent.recording.turn_record import TurnRecord
    from codelaw.context.sections import View

QUIET_SECONDS = 30.0
"""Without content, whatever signs of life the connection gives."""
SILENT = "model_silent"
"""The notice's code."""
SEARCH_TITLE = 200
"""Characters of what a search is called by."""
CONTINUATIONS = 3
"""How often a reply cut by the output limit is continued."""
_LABEL = "Thought:"
_CONTROL = re.compile(r"\s*<[|/]?\w[^\s<>]*>\s*")
"""A token of the model's own that ends every reply."""
_TOO_LONG = "The answer is longer than the model may write at once; it stops where it was cut."
_STOPPED = "The endpoint stops the answer at a stop sequence of its own; it stops where it was cut."
_MAY_BE_CUT = "The endpoint ended this answer at a stop sequence that it does not name: the answer may be cut there."
_DOUBTED = "The endpoint reports numbers of tokens that cannot be; they are not counted."
_DROPPED = "The model did not take its earlier thinking back; it goes on without it."
_RESTART = 24
"""Characters of a continuation compared with the beginning, to notice a model that starts over."""
_TELLING = 8
"""Characters that a beginning must have to be told from a continuation that only looks like it."""


class Silence:
    """Around one request of a turn: gives a notice once for each silence; `heard` ends one."""

    def __init__(self, turn: TurnRecord) -> None:
        self._turn = turn
        self._loop = asyncio.get_running_loop()
        self._last = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def __enter__(self) -> Self:
        self.heard()
        return self

    def __exit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def heard(self) -> None:
        """Content has come."""
        self._last = self._loop.time()
        if self._timer is None:
            self._timer = self._loop.call_at(self._last + QUIET_SECONDS, self._look)

    def _look(self) -> None:
        if self._loop.time() < (until := self._last + QUIET_SECONDS):
            self._timer = self._loop.call_at(until, self._look)
            return
        self._timer = None
        message = (
            f"{self._turn.model or 'The model'} has sent nothing for {QUIET_SECONDS:g} s; the request is still open. "
            "Wait, or cancel the turn and send the message again: what was done so far is kept."
        )
        self._turn.notice(Notice("warning", SILENT, message))


@dataclass(slots=True)
class ModelAttempt:
    """A reply and what it says; `cut` says why it is still incomplete after all continuations."""

    reply: ModelReply
    reading: ParsedReply
    cut: str = ""


class Joint:
    """Joins a continuation to what was `kept` of the reply before it."""

    def __init__(self, kept: str) -> None:
        self._kept = kept
        """With its blanks, which the model was not shown: one that continues with some of its own means the same."""
        self._head: list[str] | None = [] if kept else None
        """The beginning of the continuation, while it is not yet clear whether it starts over."""
        self._telling = 0
        """Characters of it from its first that is not a blank."""
        self.said = GrowingText(kept)

    @property
    def text(self) -> str:
        """All of the reply so far."""
        return self.said.text

    def feed(self, text: str) -> str:
        """More of the continuation; gives what can be read on from."""
        if self._head is None:
            self.said.add(text)
            return text
        self._head.append(text)
        self._telling += len(text if self._telling else text.lstrip())
        return self.end() if self._telling >= _RESTART else ""

    def end(self) -> str:
        """Decide now; gives what was held back."""
        if self._head is None:
            return ""
        head, self._head = "".join(self._head), None
        begun, again = self._kept.lstrip()[:_RESTART], head.lstrip()
        over = (len(begun) >= _TELLING and again.startswith(begun)) or (
            again.startswith(_LABEL) and begun.startswith(_LABEL)
        )
        kept = self._kept.rstrip() if head[:1].isspace() else self._kept
        text = head if over else kept + head
        self.said = GrowingText(text)
        return text


@dataclass(slots=True)
class Asker:
    """Asks the model for one step of `turn`, with `view`."""

    turn: TurnRecord
    inputs: TurnInputs
    view: View
    estimated: int
    """Tokens of the view, corrected; for a vendor that would have told them only at the end of a reply that was closed.
    """
    previous: str = ""
    """The vendor's id of the chat's last reply."""
    _stream: ReplyStream = field(init=False)
    _items: KeptItems | None = field(init=False, default=None)
    """Of the step's first reply. Where others go on from it, those in front of its words: no later request repeats
    what the others answered."""
    _thinking: bool = field(init=False, default=False)
    """The thought that is shown is the vendor's own so far, which what the model says does not go on from."""
    _bare: bool = field(init=False, default=False)
    """Kept items were refused, and are not sent any more (P-5)."""
    _searches: list[WebSearch] = field(default_factory=list[WebSearch])
    """Of all requests of the step."""

    async def ask(self) -> ModelAttempt:
        """The reply. An empty one is asked again once, with a hint.

        Raises:
            ModelFailure: no whole reply could be had.
        """
        asked = await self._whole("", ())
        if asked.reading.empty and asked.reply.stop_reason != "refusal":
            dialect = self.inputs.dialect
            hint = render("empty_reply", dialect=dialect.name, reasoning=dialect.reasoning)
            self._items = None
            asked = await self._whole("", (ApiMessage("user", (TextBlock(hint),)),))
        return asked

    async def _whole(self, kept: str, after: tuple[ApiMessage, ...]) -> ModelAttempt:
        for number in count(1):
            reply = await self._recovered(kept, after)
            stopped = await self._stopped(reply)
            if reply.stop_reason != "max_tokens" and not stopped:
                return self._read(reply, await self._said(reply))
            if stopped:
                reply = replace(reply, text=reply.text + reply.stopped_by)
            else:
                cut = await asyncio.to_thread(self.inputs.dialect.cut, reply, self._name)
                if cut is not None:
                    return self._read(reply, cut)
            if number > CONTINUATIONS:
                why = _STOPPED if stopped else _TOO_LONG
                reading = await self._said(reply)
                return replace(self._read(reply, reading), cut=why)
            kept, after = reply.text, self._continuation(reply.text, "go_on")
            by = "a stop sequence of the endpoint" if stopped else "the output limit"
            self._retry(NextAttempt(number + 1, 0.0, f"the reply was cut off by {by} and is continued"))
        raise AssertionError

    async def _stopped(self, reply: ModelReply) -> bool:
        """Whether an endpoint's own stop sequence has cut an answer (R-3); one that may be cut gets a notice."""
        if reply.stop_reason != "stop_sequence" or not reply.text.strip():
            return False
        whole = await asyncio.to_thread(self.inputs.dialect.whole, reply)
        if whole or _CONTROL.fullmatch(reply.stopped_by):
            return False
        if whole is None and not reply.stopped_by:
            self.turn.notice(Notice("warning", "answer_may_be_cut", _MAY_BE_CUT))
            return False
        return True

    async def _said(self, reply: ModelReply) -> ParsedReply:
        """What a reply says, read beside the event loop, which others wait for."""
        return await asyncio.to_thread(self.inputs.dialect.read, reply, self._name)

    def _read(self, reply: ModelReply, reading: ParsedReply) -> ModelAttempt:
        for channel, text in self._stream.finish(reading):
            self._show(channel, text)
        # Broken calls stand behind the others in a reading, wherever they stood in the reply.
        items = self._items.before(0) if self._items is not None and reply.broken_calls else self._items
        return ModelAttempt(reply, replace(reading, searches=tuple(self._searches), items=items))

    async def _recovered(self, kept: str, after: tuple[ApiMessage, ...]) -> ModelReply:
        recovery = Recovery()
        while True:
            try:
                reply = await self._attempt(kept, after)
            except ModelFailure as failure:
                self.turn.spend(failure.usage)
                if failure.kind == "items" and not self._bare:
                    self._bare = True
                    self.turn.notice(Notice("info", "thinking_dropped", _DROPPED))
                    continue
                retry = recovery.after(failure)
            else:
                self.turn.spend(reply.usage)
                return reply
            self._retry(retry)
            await asyncio.sleep(retry.seconds)
            if recovery.kept:
                kept, after = recovery.kept, self._continuation(recovery.kept, "resume")

    def _continuation(self, kept: str, template: str) -> tuple[ApiMessage, ...]:
        """What has come so far as the model said it, and that it shall go on."""
        self._items = None if self._items is None else self._items.leading()
        thought = () if self._items is None else tuple(KeptBlock(item, self._items) for item in self._items.items)
        return (
            ApiMessage("assistant", (*thought, TextBlock(kept.rstrip() or "…"))),
            ApiMessage("user", (TextBlock(render(template)),)),
        )

    def _request(self, after: tuple[ApiMessage, ...], images: Mapping[str, bytes] = NO_IMAGES) -> ModelRequest:
        """The view as a request, with messages to append."""
        inputs = self.inputs
        made = inputs.manner.on(
            inputs.dialect.request(
                self.view,
                model=inputs.model_name,
                max_tokens=inputs.output(self.estimated),
                toolbox=inputs.toolbox,
                after=after,
                lasting=inputs.lasting,
                images=images,
            )
        )
        return replace(made, previous=self.previous) if inputs.diagnosed else made

    async def _attempt(self, kept: str, after: tuple[ApiMessage, ...]) -> ModelReply:
        """One request. `kept` was withdrawn from the screen: it is shown again, unless the model starts over."""
        joint = Joint(kept)
        self._stream = self.inputs.dialect.stream()
        self.turn.partial, self.turn.partial_answer = joint.said, GrowingText()

        begun: Usage | None = None
        arrived: list[str] = []

        def on_delta(delta: Delta) -> Heard:
            nonlocal begun
            if isinstance(delta, Begun):
                begun = delta.usage
                return False
            silence.heard()
            arrived.append(delta.text)
            self._thinking = isinstance(delta, ThinkingDelta) or self._thinking
            if isinstance(delta, ThinkingDelta):
                self.turn.emit(ThoughtDelta(delta.text, self.turn.step, delta.progress or None))
                return False
            self._feed(joint.feed(delta.text), joint)
            return self._stream.enough or ("whole" if self._stream.whole else False)

        silence = Silence(self.turn)
        request = self._request(after)
        if self.inputs.sees and request.digests:
            # Anew, as what was thought behind a picture goes back only where that is sent.
            request = self._request(after, await sent_with(self.turn.store, self.turn.chat_id, request))
        try:
            with silence:
                reply = await self.inputs.model.reply(request, on_delta)
        except ModelFailure as failure:
            if failure.kind == "items" and self.inputs.dialect.binding is not None:
                self.inputs.dialect.binding.refuse(request)
                self.turn.refused = self.inputs.dialect.binding.refused
            if failure.kind == "invalid" and any(message.role == "system" for message in request.messages):
                self.inputs.dialect.system_messages, failure.kind = False, "roles"
            self._feed(joint.end(), joint)
            failure.partial = joint.text
            raise
        except asyncio.CancelledError:
            if begun is not None:
                self.turn.spend(self._billed(begun, "".join(arrived)))
            raise
        self._feed(joint.end(), joint)
        self.previous = reply.id or self.previous
        binding = self.inputs.dialect.binding
        if binding is not None and reply.items and not after:
            self._items = KeptItems(binding.maker, reply.items, request.prefix, request.after)
        self._report_searches(reply)
        if reply.served:
            message = f"{self.inputs.model_name} refused the request; {reply.served} has answered instead."
            self.turn.notice(Notice("info", "model_fell_back", message))
        if reply.doubted and all(notice.code != "usage_doubted" for notice in self.turn.notices):
            self.turn.notice(Notice("warning", "usage_doubted", _DOUBTED))
        usage = reply.usage
        if reply.stop_reason == "closed" or not usage.total_tokens:
            searched = sum(not search.problem for search in reply.searches)
            said = "".join((reply.text, *(f"{call.tool}{dict(call.arguments)}" for call in reply.calls)))
            usage = replace(self._billed(usage, said), web_searches=max(usage.web_searches, searched))
        return replace(reply, text=joint.text, usage=usage)

    def _billed(self, reported: Usage, arrived: str) -> Usage:
        """The least that was billed for a reply which we have left, as the vendor tells the output only at the end.

        Where nothing is reported at all it is our estimate.
        """
        usage = replace(reported, output_tokens=max(reported.output_tokens, estimate(arrived)))
        if usage.total_tokens > usage.output_tokens:
            return usage
        return replace(usage, input_tokens=self.estimated, estimated_tokens=self.estimated + usage.output_tokens)

    def _report_searches(self, reply: ModelReply) -> None:
        """What the vendor has searched for, and the pages that it found, as calls that have ended (X-1)."""
        self._searches += reply.searches
        for number, search in enumerate(reply.searches):
            pages = "\n".join(f"{page.title} {page.url}".strip() for page in search.found)
            self.turn.emit(
                ToolCallEvent(
                    f"search_{self._name}_{self.turn.usage.total_tokens}_{number}",
                    "web_search",
                    title(f"Search the web: {search.query}", SEARCH_TITLE),
                    "failed" if search.problem else "completed",
                    self.turn.step,
                    args={"query": search.query},
                    summary=f"The search failed: {search.problem}."
                    if search.problem
                    else pages or "Nothing was found.",
                )
            )

    def _feed(self, piece: str, joint: Joint) -> None:
        self.turn.partial = joint.said
        if piece:
            for channel, text in self._stream.feed(piece):
                self._show(channel, text)

    def _show(self, channel: str, text: str) -> None:
        if channel == "answer":
            self.turn.partial_answer.add(text)
            self.turn.emit(AnswerDelta(text, self.turn.step))
        else:
            apart, self._thinking = "\n\n" if self._thinking else "", False
            self.turn.emit(ThoughtDelta(apart + text, self.turn.step))

    def _retry(self, retry: NextAttempt) -> None:
        self.turn.partial_answer = GrowingText()  # withdrawn by the event, until it is shown again
        self.turn.emit(RetryEvent(retry.attempt, retry.seconds, retry.reason, self.turn.step))

    @property
    def _name(self) -> str:
        """The step's, unique in the chat."""
        return f"{self.turn.name}_{self.turn.step}"
