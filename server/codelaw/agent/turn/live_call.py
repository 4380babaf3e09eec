"""What a server asks the user in the middle of a call, as an approval (X-3).

An approval has answers to choose from and room for a word, so a question is put where that is enough: a yes, one
choice, one text, or values that the server has proposed. Any other is declined, and the user is told.
"""

from __future__ import annotations

import asyncio
import re
from codecs import getincrementaldecoder
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast, get_args
from urllib.parse import urlsplit

from codelaw.domain.chats import Notice
from codelaw.domain.events import ToolOutputEvent
from codelaw.domain.files import OutputStream
from codelaw.domain.permissions import ApprovalOption, ApprovalQuestion
from codelaw.domain.safety.unseen import title, visible, visible_line
from codelaw.domain.served import ServerAnswer

if TYPE_CHECKING:
    from codelaw.agent.recording.turn_record import TurnRecord
    from codelaw.domain.messages import Call
    from codelaw.domain.permissions import ApprovalAnswer
    from codelaw.domain.safety.redaction import Redaction
    from codelaw.domain.served import ServerQuestion
    from codelaw.ports.editor import Approver

MOST_CHOICES = 8
LONGEST_TEXT = 4_000
"""Characters of a server's words."""
LONGEST_CHOICE = 60
TITLE = 120
DECLINE = ApprovalOption("decline", "Decline", "reject")
IN_WORDS = ApprovalOption("words", "Decline; words that you add are the answer", "reject")

_Field = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Form:
    """A question's answers: what each option sends, and the field that the user's own words fill."""

    text: str
    """What is asked, whole."""
    options: tuple[ApprovalOption, ...]
    contents: Mapping[str, Mapping[str, Any]]
    """By the id of an option that accepts."""
    words: str
    """The name of the field for words; empty where there is none."""


def form(question: ServerQuestion) -> Form | None:
    """How a question is put; None where an approval has no room for its answer."""
    message = visible(question.message[:LONGEST_TEXT])
    if question.url is not None:
        address = visible_line(question.url[:LONGEST_TEXT])
        host = urlsplit(question.url).hostname if question.url.isascii() else None
        if host is None or urlsplit(question.url).scheme not in {"http", "https"}:
            return None
        text = f"{message}\n\nIt wants you to open this page yourself, and to answer here when you are done:\n{address}"
        return _form(text, [("I have done it", {})])
    fields = _fields(question.schema)
    text = "\n".join([message, *(["", *map(_line, fields.items())] if fields else [])])
    name, only = next(iter(fields.items())) if len(fields) == 1 else ("", dict[str, Any]())
    choices, proposed = _choices(only), _proposed(fields)
    words = name if choices is None and only.get("type") == "string" else ""
    if not fields:
        return _form(text, [("Yes", {})])
    if choices is not None and len(choices) <= MOST_CHOICES:
        return _form(text, [(shown, {name: value}) for value, shown in choices])
    if proposed is None and not words:
        return None
    return _form(text, [] if proposed is None else [("Accept what is proposed", proposed)], words)


def _form(text: str, accepted: Sequence[tuple[str, Mapping[str, Any]]], words: str = "") -> Form:
    options = [ApprovalOption(f"choice-{number}", shown, "allow_once") for number, (shown, _) in enumerate(accepted)]
    contents = {option.id: content for option, (_, content) in zip(options, accepted, strict=True)}
    return Form(text, (*options, IN_WORDS if words else DECLINE), contents, words)


def answer(asked: Form, given: ApprovalAnswer) -> ServerAnswer:
    """What the server is told."""
    if given.option_id is None:
        return ServerAnswer("cancel" if given.by == "user" else "decline")
    if given.option_id in asked.contents:
        return ServerAnswer("accept", asked.contents[given.option_id])
    if asked.words and given.option_id == IN_WORDS.id and given.comment:
        return ServerAnswer("accept", {asked.words: given.comment})
    return ServerAnswer("decline")


@dataclass(slots=True)
class ServerAsking:
    """Implements `Asking` for one call of a turn."""

    approver: Approver
    open: TurnRecord
    call: Call
    asked: int = 0

    async def ask(self, question: ServerQuestion) -> ServerAnswer:
        """The user's answer; no rule and no `--yes` gives one."""
        self.asked += 1
        put = form(question)
        if put is None:
            shown = title(question.message, TITLE)
            said = f"The server {question.server} asked for what cannot be given here, and was declined: {shown}"
            self.open.notice(Notice("warning", "mcp_declined", said))
            return ServerAnswer("decline")
        given = await self.approver.ask(
            ApprovalQuestion(
                chat_id=self.open.chat_id,
                turn_id=self.open.id,
                call_id=f"{self.call.id}_asks_{self.asked}",
                tool=self.call.tool,
                title=f"The server {question.server} asks: {title(question.message, TITLE)}",
                risk="execute",
                options=put.options,
                text=put.text,
                why="What you answer goes to the server.",
                always_asked=True,
            )
        )
        return answer(put, given)

    def reported(self, line: str) -> None:
        """Who listens to a call gets it from the tool (`tools/served/served_tool`)."""


def _fields(schema: Mapping[str, Any] | None) -> dict[str, _Field]:
    named = schema.get("properties") if schema is not None else None
    if not isinstance(named, Mapping):
        return {}
    return {
        name: cast("_Field", one) if isinstance(one, Mapping) else {}
        for name, one in cast("Mapping[str, Any]", named).items()
    }


def _choices(given: _Field) -> list[tuple[Any, str]] | None:
    """The values of a field that has few, each as it is shown; None for any other."""
    if given.get("type") == "boolean":
        return [(True, "Yes"), (False, "No")]
    titled = given.get("oneOf") or given.get("anyOf")
    if isinstance(titled, list):
        pairs = [cast("_Field", one) for one in cast("list[Any]", titled) if isinstance(one, Mapping)]
        return [(one["const"], _short(one.get("title", one["const"]))) for one in pairs if "const" in one] or None
    values = given.get("enum")
    if not isinstance(values, list):
        return None
    names: Any = given.get("enumNames")
    shown = cast("list[Any]", names if isinstance(names, list) else values)
    shown = [*shown, *cast("list[Any]", values)[len(shown) :]]
    return [(value, _short(name)) for value, name in zip(cast("list[Any]", values), shown, strict=False)]


def _short(value: Any) -> str:
    return title(str(value), LONGEST_CHOICE) or "(nothing)"


def _proposed(fields: Mapping[str, _Field]) -> dict[str, Any] | None:
    """The values that the server proposes; None where it proposes none for some field."""
    if any("default" not in one for one in fields.values()):
        return None
    return {name: one["default"] for name, one in fields.items()}


def _line(entry: tuple[str, _Field]) -> str:
    name, given = entry
    said = str(given.get("title") or given.get("description") or "")[:LONGEST_TEXT]
    proposed = f" (proposed: {visible_line(str(given['default'])[:LONGEST_TEXT])})" if "default" in given else ""
    return f"- {visible_line(name[:TITLE])}{f': {visible_line(said)}' if said else ''}{proposed}"


INTERVAL = 0.1
"""Seconds that output is gathered before it is told."""
AT_ONCE = 16_000
"""Characters told of a stream at one time; of more the middle is left out."""
IN_ALL = 1_000_000
"""Characters told of a stream; what comes after them stands in the result alone."""
LONGEST_KEY = 20_000
"""Characters of a private key of several lines, of which no part is told before its end."""
_BLANK = re.compile(r"\s(?=\S*\Z)")
_BEGINS = "-----BEGIN "
_ENDS = "-----END "


class LiveOutput:
    """Implements `OutputListener` for one call of a turn.

    What may be the beginning of a key is held back: no more than the last word, and a private key until its end.
    """

    def __init__(self, turn: TurnRecord, call_id: str, redaction: Redaction) -> None:
        self._turn = turn
        self._call_id = call_id
        self._streams = {stream: _Stream(redaction) for stream in get_args(OutputStream)}
        self._timer: asyncio.TimerHandle | None = None
        self._halt = asyncio.Event()

    def halt(self) -> asyncio.Event:
        self._turn.halts[self._call_id] = self._halt
        return self._halt

    def heard(self, stream: OutputStream, data: bytes) -> None:
        self._streams[stream].feed(data)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(INTERVAL, self._report)

    def close(self) -> None:
        """The command has ended: tell what is left."""
        self._turn.halts.pop(self._call_id, None)
        if self._timer is not None:
            self._timer.cancel()
            self._report(ended=True)

    def _report(self, *, ended: bool = False) -> None:
        self._timer = None
        for name, stream in self._streams.items():
            if delta := stream.take(ended=ended):
                self._turn.emit(ToolOutputEvent(self._call_id, name, delta, self._turn.step))


class _Stream:
    """The text of one stream that has not been told yet."""

    def __init__(self, redaction: Redaction) -> None:
        self._redaction = redaction
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self._waiting = ""
        self._left = IN_ALL

    def feed(self, data: bytes) -> None:
        if self._left <= 0:
            return
        self._waiting += self._decoder.decode(data)
        if len(self._waiting) > 4 * AT_ONCE:
            self._waiting = _bounded(self._redaction.text(self._waiting, shapes=True))

    def take(self, *, ended: bool) -> str:
        """What can be told now."""
        cut = len(self._waiting) if ended else self._ready()
        reported, self._waiting = self._waiting[:cut], self._waiting[cut:]
        reported = _bounded(self._redaction.text(reported, shapes=True))
        if not reported or self._left <= 0:
            return ""
        self._left -= len(reported)
        return reported if self._left > 0 else f"{reported}\n… the rest stands in the result …\n"

    def _ready(self) -> int:
        """How far the text can be told: to its last blank, and to no further than a private key that goes on."""
        blank = _BLANK.search(self._waiting)
        cut = len(self._waiting) if len(self._waiting) > LONGEST_KEY else 0 if blank is None else blank.end()
        begins = self._waiting.rfind(_BEGINS, 0, cut)
        goes_on = begins >= 0 and self._waiting.find(_ENDS, begins) < 0 and len(self._waiting) - begins < LONGEST_KEY
        if goes_on:
            return begins
        _, held = self._redaction.ready(self._waiting[:cut])
        return cut - len(held)


def _bounded(text: str) -> str:
    """The ends of a text that is too long."""
    if len(text) <= AT_ONCE:
        return text
    half = AT_ONCE // 2
    return f"{text[:half]}\n… {len(text) - 2 * half} characters are not shown here …\n{text[-half:]}"
