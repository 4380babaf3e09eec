"""The text dialect: `Thought: …` / `Action: Tool[{json}]` (R-3, L-5)."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from codelaw.agent.dialects import grammar
from codelaw.agent.dialects.base import Channel, Dialect, InvalidCall, ParsedReply, ReplyStream, call_id
from codelaw.agent.dialects.scanning import LONG, Scan, find
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
        found = find(text, self._tools)
        action = found.action
        if action is None:
            if found.failed is not None:
                kept = text[: grammar.invented_from(text, found.failed)]
                return _unreadable(kept, "unknown", "The action could not be read.", step)
            answer = grammar.said(text)
            return ParsedReply(kept=text, answer=answer) if answer.strip() else ParsedReply(kept="")
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
        action = find(reply.text, self._tools).action
        if action is None or action.name == grammar.FINISH:
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
        action = find(reply.text, self._tools).action
        if action is None:
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


class ReactStream(ReplyStream):
    """Shows a reply as it arrives: the thought up to the action, then the inside of Finish.

    Held back is what may still turn out to be a label or the end of the Finish, or, without a `Thought:`, the whole
    answer.
    """

    def __init__(self, tools: AbstractSet[str] = frozenset()) -> None:
        self._scan = Scan(tools)
        self._call: grammar.CallEnd | None = None
        self._behind: int | None = None
        """Behind the complete call, and behind all that only closes what was opened around it."""
        self._fit: bool | None = None
        """Whether the complete call can be read; None before it is complete."""
        self._begin: int | None = None
        """Where the thought's own words begin, once that is known."""
        self._again = 0
        """Length of the text at which their beginning is looked for again."""
        self._seen = 0
        """Up to here the thought has been shown, or only blanks follow what was."""
        self._reported: int | None = None
        """The same of the answer, with what may yet close the Finish."""
        self._thought = self._answer = 0
        """Characters of each already shown."""

    def feed(self, text: str) -> Iterator[tuple[Channel, str]]:
        """More text; gives what can be shown now."""
        self._scan.feed(text)
        yield from self._show_thought()
        action = self._scan.action
        if action is None:
            return
        if action.name == grammar.FINISH:
            yield from self._show_answer(action)
        else:
            self.enough = self.enough or self._goes_on(action)

    def finish(self, reading: ParsedReply) -> Iterator[tuple[Channel, str]]:
        """The rest, once the reply has been read."""
        if len(reading.thought) > self._thought:
            piece, self._thought = reading.thought[self._thought :], len(reading.thought)
            yield "thought", piece
        if reading.answer is not None and len(reading.answer) > self._answer:
            piece, self._answer = reading.answer[self._answer :], len(reading.answer)
            yield "answer", piece

    def _show_answer(self, action: grammar.Opening) -> Iterator[tuple[Channel, str]]:
        text, begin = self._scan.text, action.inside if self._reported is None else self._reported
        end = begin + grammar.settled_end(text.part(begin), action)
        self._reported = len(text)
        if end > begin:
            shown = action.inside + self._answer
            self._answer = end - action.inside
            yield "answer", text.part(shown, end)

    @property
    def whole(self) -> bool:
        """A complete call that can be run has arrived, whether or not more follows (R-3)."""
        action = self._scan.action
        return action is not None and self._behind is not None and self._fits(action)

    def _goes_on(self, action: grammar.Opening) -> bool:
        """Whether a complete call has come and more behind it."""
        if self._fit is False:
            return False
        text = self._scan.text
        if self._behind is None:
            self._call = self._call or grammar.CallEnd(action.inside)
            place = self._call.place
            self._behind = self._call.look(text.part(place), place)
        if self._behind is None:
            return False
        if not text.part(self._behind).strip("`*_ \t\r\n"):
            self._behind = len(text)
            return False
        return self._fits(action)

    def _fits(self, action: grammar.Opening) -> bool:
        if self._fit is None:
            try:
                grammar.arguments_at(self._scan.text.text, action.inside)
                self._fit = True
            except ValueError:
                self._fit = False
        return self._fit

    def _show_thought(self) -> Iterator[tuple[Channel, str]]:
        if self._begin is None:
            self._begin = self._thought_begin()
            if self._begin is None:
                return
            self._seen = self._begin
        text, end = self._scan.text, self._thought_end()
        if end <= self._seen:
            return
        solid = len(text.part(self._seen, end).rstrip())
        if solid:
            shown, until = self._begin + self._thought, self._seen + solid
            self._thought = until - self._begin
            yield "thought", text.part(shown, until)
        self._seen = end

    def _thought_begin(self) -> int | None:
        text = self._scan.text
        if len(text) > LONG and len(text) < self._again:
            return None
        self._again = 2 * len(text)
        begin = grammar.thought_start(text.text)
        return begin if begin is not None and begin < len(text) else None

    def _thought_end(self) -> int:
        scan = self._scan
        if scan.action is not None:
            return scan.action.start
        if scan.label is not None:
            return scan.label
        return scan.line.start if scan.line.held else len(scan.text)
