"""Reading a reply as it arrives takes work in proportion to its length, whatever its shape (R-3)."""

from __future__ import annotations

import random
from typing import Any

import pytest

from codelaw.agent.dialects.grammar import settled_end
from codelaw.agent.dialects.react import React
from codelaw.agent.dialects.scanning import GrowingText
from codelaw.agent.turn.model_call import Joint
from codelaw.domain.models import ModelReply

SIZE = 60_000
MOST = 16
"""Characters that may be read for each one of a reply; reading all of it for each piece would be thousands."""
WORDS = "a few words, and more "


def filled(begin: str, piece: str, end: str = "") -> str:
    return begin + piece * (SIZE // len(piece)) + end


REPLIES = {
    "an answer in one line": filled("Thought: t\nAction: Finish[", WORDS, "]"),
    "an answer in lines": filled("Thought: t\nAction: Finish[", f"{WORDS}\n", "]"),
    "an answer of closing brackets": filled("Thought: t\nAction: Finish[", "]"),
    "an answer of blanks": filled("Thought: t\nAction: Finish[", " "),
    "no action, one line": filled("So ", WORDS),
    "no action, lines": filled("So\n", f"{WORDS}\n"),
    "a thought": filled("Thought: ", f"{WORDS}\n"),
    "a thought in one line": filled("Thought: ", WORDS),
    "a thought of blanks": filled("Thought: t", " \n"),
    "a call": filled('Thought: t\nAction: Write[{"path": "a", "content": "', WORDS, '"}]'),
    "an unreadable call, and more": filled('Thought: t\nAction: Write[{"path" "a"}]\n', WORDS),
    "blanks before all": filled("", " \n"),
    "stars": filled("", "*"),
    "a label and blanks": filled("Action:", " \n"),
    "a name without end": filled("Action: ", "a"),
    "a line that only looks like an action": filled("So\nAction: see[", 'x {"a": 1}, '),
    "a label in running text": filled("So\nAction: ", 'x {"a": 1}, '),
    "many of them": filled("So\n", "Action: see[the docs]\n"),
    "code fences": filled("Thought: t\n", "```\nx = 1\n```\n"),
    "labels in a code fence": filled("Thought: t\n```\nx\n", "Action: LS[{}]\n"),
    "a code fence without a line": filled("Thought: t\n```", "a"),
}


@pytest.mark.parametrize("text", REPLIES.values(), ids=REPLIES)
def test_work_is_linear_however_small_the_pieces(text: str, monkeypatch: pytest.MonkeyPatch):
    looked = 0
    part = GrowingText.part

    def counted(self: GrowingText, begin: int, end: int | None = None) -> str:
        nonlocal looked
        given = part(self, begin, end)
        looked += len(given)
        return given

    monkeypatch.setattr(GrowingText, "part", counted)
    monkeypatch.setattr(GrowingText, "text", property(lambda self: counted(self, 0)))
    dialect, shown = React(), {"thought": "", "answer": ""}
    stream = dialect.stream()
    cuts = random.Random(7)
    place = 0
    while place < len(text):
        width = cuts.randint(1, 6)
        for channel, piece in stream.feed(text[place : place + width]):
            shown[channel] += piece
        place += width
    assert 0 < looked <= MOST * len(text)
    reading = dialect.read(ModelReply(text, "end_turn"), "s")
    for channel, piece in stream.finish(reading):
        shown[channel] += piece
    assert shown["answer"] == (reading.answer or "")


class Counted(str):
    """A text that counts the characters that are read of it and of its parts."""

    __slots__ = ()
    read = 0

    def rstrip(self, chars: str | None = None) -> Counted:
        Counted.read += len(self)
        return Counted(super().rstrip(chars))

    def __getitem__(self, place: Any) -> Counted:
        found = super().__getitem__(place)
        Counted.read += len(found)
        return Counted(found)


def test_an_answer_of_brackets_and_blanks_is_settled_by_reading_it_once():
    text = Counted("so" + " ]" * 1_000)
    assert settled_end(text, "]") == len("so")
    assert 0 < Counted.read <= 4 * len(text)


def test_a_continuation_of_blanks_is_not_read_again_for_each_of_them():
    joint = Joint("Thought: t\nAction: Finish[so")
    for _ in range(SIZE):
        assert joint.feed(" ") == ""
    assert joint.feed("and so on, for quite a while") == joint.text
    assert joint.text.startswith("Thought: t\nAction: Finish[so" + " " * SIZE + "and so on")
