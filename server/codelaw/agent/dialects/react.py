"""The text dialect: `Thought: …` / `Action: Tool[{json}]`, the default (R-3, L-5)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal

from codelaw.agent.dialects import grammar
from codelaw.agent.dialects.base import Channel, InvalidCall, Reading
from codelaw.agent.dialects.spelling import Speller
from codelaw.context.rendering import action_text, user_texts
from codelaw.domain.messages import Call, Message
from codelaw.domain.models import ApiMessage, ModelReply, ModelRequest, TextBlock

if TYPE_CHECKING:
    from codelaw.context.sections import View
    from codelaw.tools.toolbox import Toolbox

STOP_SEQUENCES = ("\n[tool]", "\nObservation:", "\n[user]")


class React:
    """Reads and writes the text dialect."""

    name: Literal["react"] = "react"

    def __init__(self) -> None:
        self._speller = Speller(spell)

    def description(self, toolbox: Toolbox) -> str:
        """The manual: name, description and argument schema of every tool."""
        return toolbox.manual()

    def schemas(self, toolbox: Toolbox) -> str:
        """Nothing: all stands in the manual."""
        del toolbox
        return ""

    def request(
        self, view: View, *, model: str, max_tokens: int, toolbox: Toolbox, after: tuple[ApiMessage, ...] = ()
    ) -> ModelRequest:
        """The view as alternating text messages; the tools stand in L1 (`toolbox` is not sent)."""
        del toolbox
        system, messages = self._speller.spell(view, after)
        return ModelRequest(model, system, messages, max_tokens, stop_sequences=STOP_SEQUENCES)

    def read(self, reply: ModelReply, new_id: Callable[[int], str]) -> Reading:
        """The thought and the first action of a reply."""
        text = reply.text
        if not text.strip():
            return Reading(kept="")
        action = grammar.opening(text)
        if action is None:
            label = grammar.action_label(text)
            if label is not None:
                kept = text[: grammar.invented_from(text, label)]
                return _unreadable(kept, "unknown", "The action could not be read.", new_id)
            answer = grammar.thought_of(text)
            return Reading(kept=text, answer=answer) if answer else Reading(kept="")
        thought = grammar.thought_of(text[: action.start])
        if action.name == grammar.FINISH:
            end = grammar.finish_end(text, action.inside)
            return Reading(kept=text[: end + 1], thought=thought, answer=text[action.inside : end])
        try:
            arguments, end = grammar.arguments_at(text, action.inside)
        except ValueError as error:
            kept = text[: grammar.invented_from(text, action.inside)]
            return _unreadable(kept, action.name, str(error), new_id, thought)
        return Reading(kept=text[:end], thought=thought, calls=(Call(new_id(0), action.name, arguments),))

    def cut(self, reply: ModelReply, new_id: Callable[[int], str]) -> Reading | None:
        """A cut tool call is answered with an error; cut thoughts and answers are continued."""
        action = grammar.opening(reply.text)
        if action is None or action.name == grammar.FINISH:
            return None
        problem = "Your reply was cut off by the output limit, so this call was not run. Write smaller pieces."
        call = Call(new_id(0), action.name, {})
        thought = grammar.thought_of(reply.text[: action.start])
        try:
            _, end = grammar.arguments_at(reply.text, action.inside)
        except ValueError:
            end = grammar.invented_from(reply.text, action.inside)
        return Reading(kept=reply.text[:end], thought=thought, calls=(InvalidCall(call, problem),))

    def stream(self) -> ReactStream:
        """A fresh reader of one reply."""
        return ReactStream()


def _unreadable(text: str, tool: str, problem: str, new_id: Callable[[int], str], thought: str = "") -> Reading:
    return Reading(kept=text, thought=thought, unreadable=InvalidCall(Call(new_id(0), tool, {}), problem))


def spell(message: Message) -> tuple[Literal["user", "assistant"], tuple[TextBlock, ...]]:
    """One message of the view in the text dialect."""
    match message.role:
        case "user":
            return "user", tuple(map(TextBlock, user_texts(message)))
        case "assistant":
            return "assistant", (TextBlock(action_text(message).rstrip() or "…"),)
        case "tool":
            return "user", (TextBlock(f"[tool] {message.content}"),)
        case "summary":
            return "user", (TextBlock(message.content),)


class ReactStream:
    """Shows a reply as it arrives: the thought up to the action, then the inside of Finish.

    Held back is what may still turn out to be a label, the closing bracket, or, without a `Thought:`, the whole answer.
    """

    def __init__(self) -> None:
        self._text = ""
        self._action: grammar.Opening | None = None
        self._thought = self._answer = 0
        """Characters of each already shown."""

    def feed(self, text: str) -> Iterator[tuple[Channel, str]]:
        """More text; gives what can be shown now."""
        self._text += text
        self._action = self._action or grammar.opening(self._text)
        yield from self._show_thought()
        if self._action is not None and self._action.name == grammar.FINISH:
            inside = self._action.inside
            yield from self._show_answer(self._text[inside : grammar.finish_end(self._text, inside)])

    def finish(self, reading: Reading) -> Iterator[tuple[Channel, str]]:
        """The rest, once the reply has been read."""
        if reading.thought:
            yield from self._show_thought(reading.thought)
        if reading.answer is not None:
            yield from self._show_answer(reading.answer)

    def _show_thought(self, thought: str | None = None) -> Iterator[tuple[Channel, str]]:
        if thought is None:
            start = grammar.thought_start(self._text)
            end = self._thought_end()
            thought = self._text[start:end].rstrip() if start is not None and start < end else ""
        if len(thought) > self._thought:
            piece, self._thought = thought[self._thought :], len(thought)
            yield "thought", piece

    def _thought_end(self) -> int:
        if self._action is not None:
            return self._action.start
        label = grammar.action_label(self._text)
        if label is not None:
            return label
        line = self._text.rfind("\n") + 1
        return line if grammar.label_begun(self._text[line:]) else len(self._text)

    def _show_answer(self, answer: str) -> Iterator[tuple[Channel, str]]:
        if len(answer) > self._answer:
            piece, self._answer = answer[self._answer :], len(answer)
            yield "answer", piece
