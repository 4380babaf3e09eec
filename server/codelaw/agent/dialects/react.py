"""The text dialect: `Thought: …` / `Action: Tool[{json}]` (R-3, L-5)."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from codelaw.agent.dialects import grammar
from codelaw.agent.dialects.base import Channel, Dialect, InvalidCall, ParsedReply, ReplyStream, call_id
from codelaw.agent.dialects.scanning import GrowingText, Scan, find
from codelaw.agent.dialects.spelling import Spelling, picture_blocks, user_blocks
from codelaw.context.observations.text import tool_texts
from codelaw.context.sections import action_text
from codelaw.domain.chats import Dialect as DialectName
from codelaw.domain.messages import Call, Message
from codelaw.domain.models import ModelReply, TextBlock
from codelaw.tools.toolbox import Toolbox


class React(Dialect):
    """Reads and writes the text dialect.

    No stop sequence is sent: there is none that an answer could not hold (R-3).
    """

    name: DialectName = "react"

    def __init__(self, *, reasoning: bool = True, system_messages: bool = False) -> None:
        """With `reasoning` the model is asked for a thought in front of each action, else for a status.

        With `system_messages` where the model takes them between the others.
        """
        super().__init__(system_messages=system_messages)
        self.reasoning = reasoning

    def description(self, toolbox: Toolbox) -> str:
        """The manual: name, description and argument schema of every tool."""
        return toolbox.manual()

    def message(self, message: Message) -> Spelling:
        """One message of the view in the text dialect."""
        match message.role:
            case "user":
                return "user", user_blocks(message)
            case "assistant":
                return "assistant", (TextBlock(action_text(message).rstrip() or "…"),)
            case "tool":
                result, *behind = tool_texts(message)
                return "user", (TextBlock(f"[tool] {result}"), *picture_blocks(message), *map(TextBlock, behind))
            case "summary":
                return "user", (TextBlock(message.content),)

    def read(self, reply: ModelReply, step: str) -> ParsedReply:
        """The thought and the first action of a reply; without any, the whole reply is the answer."""
        text = reply.text
        if not text.strip():
            return ParsedReply(kept="")
        action = find(text, self._tools)
        if action is None:
            answer = grammar.said(text)
            return ParsedReply(kept=text, answer=answer) if answer.strip() else ParsedReply(kept="")
        if not action.name:
            kept = text[: grammar.invented_from(text, action.start)]
            return _unreadable(kept, "unknown", "The action could not be read.", step)
        thought = grammar.thought_of(text[: action.start])
        if action.name == grammar.FINISH:
            end, _ = grammar.answer_end(text, action)
            return ParsedReply(kept=text, thought=thought, answer=text[action.inside : end])
        try:
            arguments, end = grammar.arguments_at(text, action.inside)
        except ValueError as error:
            kept = text[: grammar.invented_from(text, action.inside)]
            return _unreadable(kept, action.name, str(error), step, thought)
        return ParsedReply(kept=text[:end], thought=thought, calls=(Call(call_id(step, 0), action.name, arguments),))

    def cut(self, reply: ModelReply, step: str) -> ParsedReply | None:
        """A cut tool call is answered with an error; cut thoughts and answers are continued."""
        action = find(reply.text, self._tools)
        if action is None or action.name in {"", grammar.FINISH}:
            return None
        problem = "Your reply was cut off by the output limit, so this call was not run. Write smaller pieces."
        call = Call(call_id(step, 0), action.name, {})
        thought = grammar.thought_of(reply.text[: action.start])
        try:
            _, end = grammar.arguments_at(reply.text, action.inside)
        except ValueError:
            end = grammar.invented_from(reply.text, action.inside)
        return ParsedReply(kept=reply.text[:end], thought=thought, calls=(InvalidCall(call, problem),))

    def whole(self, reply: ModelReply) -> bool | None:
        """Whether the call is complete or the Finish closed; of plain text nobody can tell."""
        action = find(reply.text, self._tools)
        if action is None or not action.name:
            return None
        if action.name == grammar.FINISH:
            # A bracket of the answer's own may stand where it was cut.
            inside = reply.text[action.inside :]
            return grammar.answer_end(reply.text, action)[1] and inside.count("]") > inside.count("[")
        return grammar.CallEnd(action.inside).look(reply.text) is not None

    def stream(self) -> ReactStream:
        """A fresh reader of one reply."""
        return ReactStream(self._tools)


def _unreadable(text: str, tool: str, problem: str, step: str, thought: str = "") -> ParsedReply:
    return ParsedReply(kept=text, thought=thought, unreadable=InvalidCall(Call(call_id(step, 0), tool, {}), problem))


_LEAD = 256
"""Characters among which the label of a thought is looked for while a reply arrives."""


@dataclass(slots=True)
class _Shown:
    """What of a channel's text has been shown while it arrives."""

    channel: Channel
    begin: int
    marks: str = ""
    """What may yet end it, besides blanks."""
    until: int = field(init=False)
    """Up to here it has been shown,"""
    _seen: int = field(init=False)
    """and up to here only blanks and marks follow that."""

    def __post_init__(self) -> None:
        self.until = self._seen = self.begin

    def more(self, text: GrowingText, end: int) -> Iterator[tuple[Channel, str]]:
        """What of the text up to `end` can be shown now."""
        if end <= self._seen:
            return
        settled = grammar.settled_end(text.part(self._seen, end), self.marks)
        if settled:
            shown, self.until = self.until, self._seen + settled
            yield self.channel, text.part(shown, self.until)
        self._seen = end


class ReactStream(ReplyStream):
    """Shows a reply as it arrives: the thought up to the action, then the inside of Finish.

    Held back is what may still turn out to be a label or the end of the Finish, or, without a `Thought:`, the whole
    answer.
    """

    def __init__(self, tools: AbstractSet[str] = frozenset()) -> None:
        self._scan = Scan(tools)
        self._thought: _Shown | None = None
        self._answer: _Shown | None = None
        self._call: grammar.CallEnd | None = None
        self._behind = 0
        """Behind the complete call, and behind all that only closes what was opened around it."""
        self._fit: bool | None = None
        """Whether the complete call can be read; None before it is complete."""

    def feed(self, text: str) -> Iterator[tuple[Channel, str]]:
        """More text; gives what can be shown now."""
        scan, reply = self._scan, self._scan.text
        scan.feed(text)
        if self._thought is None and len(reply) - len(text) <= _LEAD:
            begin = grammar.thought_start(reply.text)
            self._thought = None if begin is None else _Shown("thought", begin)
        if self._thought is not None:
            yield from self._thought.more(reply, scan.thought_end)
        if scan.action is not None and scan.action.name == grammar.FINISH:
            marks = "]" + "".join(scan.action.wrap)
            self._answer = self._answer or _Shown("answer", scan.action.inside, marks)
            yield from self._answer.more(reply, len(reply))
        elif scan.action is not None and self._fit is not False:
            self._go_on(scan.action)

    def finish(self, reading: ParsedReply) -> Iterator[tuple[Channel, str]]:
        """The rest, once the reply has been read."""
        reported: tuple[tuple[Channel, str, _Shown | None], ...] = (
            ("thought", reading.thought, self._thought),
            ("answer", reading.answer or "", self._answer),
        )
        for channel, text, shown in reported:
            if rest := text[0 if shown is None else shown.until - shown.begin :]:
                yield channel, rest

    @property
    def whole(self) -> bool:
        """A complete call that can be run has arrived, whether or not more follows (R-3)."""
        return self._fit is True

    def _go_on(self, action: grammar.Opening) -> None:
        """Find out whether the call is complete, and more has come behind it."""
        text = self._scan.text
        if self._fit is None:
            self._call = self._call or grammar.CallEnd(action.inside)
            end = self._call.look(text.part(self._call.place), self._call.place)
            if end is None:
                return
            try:
                grammar.arguments_at(text.text, action.inside)
            except ValueError:
                self._fit = False
                return
            self._fit, self._behind = True, end
        if text.part(self._behind).strip("`*_ \t\r\n"):
            self.enough = True
        self._behind = len(text)
