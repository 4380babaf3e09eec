"""The format of chat files, and what changes in one while a turn runs (E-3)."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codelaw.domain.edits import Splice, spliced
from codelaw.transcript.chat_file.chat_file import (
    YOU,
    block,
    closing,
    escape_comments,
    header,
    named_chat_file,
    opening,
    parse,
)
from codelaw.transcript.chat_file.fences import fenced, left_open
from codelaw.transcript.chat_file.patches import TurnText, opened, updated

ANSWER = "# Heading\n\n## You\n\n```md\n## You\n<!-- codelaw chat x -->\n```\n\nDone 🦊."


def question(text: str) -> str | None:
    found = parse(text).question
    return found.text if found is not None else None


def test_a_question_is_what_stands_below_the_last_heading_after_the_last_block() -> None:
    first = block("t1", ANSWER)
    text = f"{header('c1')}\n\n{YOU}\n\nOne?\n\n{first}\n\n{YOU}\n\nTwo?\n\n### Details\n\nsome\n"
    file = parse(text)
    assert file.chat_id == "c1"
    assert [(found.id, found.closed, found.running) for found in file.blocks] == [("t1", True, False)]
    assert text[file.blocks[0].start : file.blocks[0].end].strip() == ANSWER
    assert question(text) == "Two?\n\n### Details\n\nsome"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", None),
        ("\n \n", None),
        ("What?", "What?"),
        ("# Notes\n\nWhat?\n", "# Notes\n\nWhat?"),
        ("# Notes\n\n## You\n\n", None),
        ("# Notes\n\n## you:\nWhat?", "What?"),
        ("# You\nFirst\n\n## You\nSecond\n", "Second"),
        ("## You\nFirst\n\n## You\n\n", "First"),
        ("## You\n\n```\n## You\nin code\n```\n", "```\n## You\nin code\n```"),
        ("## You\n\n~~~\n```\n## You\n~~~\nx", "~~~\n```\n## You\n~~~\nx"),
        ("---\ntitle: x\n---\n\nWhat?", "What?"),
        ("<!-- codelaw chat a -->\nWhat?", "What?"),
        ("What?\n<!-- codelaw chat a -->\n", "What?"),
        ("## You there\n\nx", "## You there\n\nx"),
        (f"{opening('t')}\nx\n{closing('t', running=True)}\n", None),
        (f"{opening('t')}\nx\n\n## You\nnew", "new"),
        (f"```\n{block('t', 'quoted')}\n```\nWhat is this?", f"```\n{block('t', 'quoted')}\n```\nWhat is this?"),
        (f"```py\nforgotten\n\n{block('t', '```py' + chr(10) + 'x' + chr(10) + '```')}\n\nnext", "next"),
    ],
)
def test_questions(text: str, wanted: str | None) -> None:
    assert question(text) == wanted


def test_a_block_without_its_end_reaches_to_the_next_question() -> None:
    file = parse(f"{opening('t')}\n\nsome\n```\n## You\n```\n\n## You\nnew")
    (found,) = file.blocks
    assert (found.closed, found.running) == (False, True)
    assert file.text[found.start : found.end] == "\nsome\n```\n## You\n```\n\n"


def test_the_names_of_chat_files() -> None:
    assert named_chat_file("file:///a/B.CHAT.md")
    assert not named_chat_file("file:///a/chat.md")


@given(st.text(alphabet="ab`~\n#<!- /turnYouchatx1", max_size=200))
@settings(max_examples=300, deadline=None)
def test_whatever_an_answer_says_its_block_is_read_back(answer: str) -> None:
    text = f"{header('c1')}\n\n{YOU}\n\nQ\n\n{block('t1', escape_comments(answer))}\n\n{YOU}\n\nNext?\n"
    file = parse(text)
    assert file.chat_id == "c1"
    (found,) = file.blocks
    assert text[found.start : found.end].strip("\n") == escape_comments(answer).strip("\n")
    assert question(text) == "Next?"


def test_comments_of_the_format_in_an_answer_end_nothing() -> None:
    answer = f"{opening('t1')}\n{closing('t1')}\n<!-- codelaw chat evil -->\n<!-- a comment -->"
    reported = escape_comments(answer)
    assert "<!-- a comment -->" in reported
    assert "<!-- /turn" not in reported
    assert len(parse(block("t1", reported)).blocks) == 1


@given(st.text(alphabet="a`~\n ", max_size=60))
def test_a_fence_holds_any_text(text: str) -> None:
    made = fenced(text)
    assert left_open(made) is None
    mark = re.match("`+", made)
    assert mark is not None
    assert made.count(mark[0]) == 2


def said(body: str, *, running: bool = True) -> TurnText:
    return TurnText("t1", body, running, "*Thinking …*" if running else "")


def started(text: str) -> str:
    return spliced(text, opened(parse(text), "c1", said(""), question(text) or ""))


def reported(text: str, turn: TurnText, written: str | None) -> str:
    change = updated(parse(text), turn, said(written) if written is not None else None)
    assert change is not None
    return spliced(text, change)


def test_a_turn_is_written_piece_by_piece() -> None:
    text, written = started("What?\n"), ""
    assert text == f"{header('c1')}\n\nWhat?\n\n{opening('t1')}\n\n*Thinking …* <!-- /turn t1 running -->\n\n## You\n\n"
    for body in ("> - Read a", "> - Read a\n> - Read b", "> - Read a\n> - Read b\n\nIt", "> - Read a\n\nNo: it is 42."):
        text, written = reported(text, said(body), written), body
    assert "> - Read a\n\nNo: it is 42.\n\n*Thinking" in text, "a step that is asked again takes its words back"
    text = reported(text, said("> - Read a\n\nNo: it is 42.", running=False), written)
    assert text.endswith(block("t1", "> - Read a\n\nNo: it is 42.") + "\n\n## You\n\n")
    assert reported(text, said("more", running=False), written) == text, "what has its end is left alone"


def test_what_was_written_below_the_question_meanwhile_is_the_next_one() -> None:
    after = spliced("What?\nMore\n", opened(parse("What?\nMore\n"), "c1", said(""), "What?"))
    assert question(after) == "More"
    assert after.index("What?") < after.index("turn t1") < after.index("More")


def test_a_forgotten_fence_of_the_question_is_closed() -> None:
    assert "x = 1\n```\n\n## codelaw" in started("Why?\n```py\nx = 1")


@pytest.mark.parametrize(
    ("mine", "wanted"),
    [
        ("One two thr MINE", "One two thr MINE\n\nthree four"),
        ("One MINE thr", "One MINE thr\n\nthree four"),
        ("", "three four"),
        ("One two thr\n\nMINE", "One two thr\n\nMINE\n\nthree four"),
    ],
)
def test_a_block_that_is_typed_into_waits_and_the_rest_comes_at_the_end(mine: str, wanted: str) -> None:
    text = reported(started("What?"), said("One two thr"), "").replace("One two thr", mine)
    assert updated(parse(text), said("One two three"), said("One two thr")) is None
    text = reported(text, said("One two three four", running=False), "One two thr")
    assert f"{opening('t1')}\n\n{wanted}\n\n<!-- /turn t1 -->" in text


def test_a_deleted_block_comes_back_above_the_next_question() -> None:
    text = started("What?")
    text = text[: text.index("## codelaw")] + "## You\n\nNext one\n"
    assert updated(parse(text), said("A"), said("")) is None
    after = reported(text, said("A", running=False), "")
    assert parse(after).block("t1") is not None
    assert question(after) == "Next one"


def test_a_file_of_an_earlier_server_is_gone_on_with() -> None:
    text = reported(started("What?"), said("One\n\ntwo"), "")
    whole = said("One\n\ntwo and three", running=False)
    assert "One\n\ntwo and three\n\n<!-- /turn t1 -->" in reported(text, whole, None)
    assert "One\n\n2\n\ntwo and three\n\n<!-- /turn t1 -->" in reported(text.replace("two", "2"), whole, None)


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_nothing_that_is_typed_is_ever_lost(data: st.DataObject) -> None:
    """Between any two changes of ours somebody types a word anywhere."""
    body = "> - Read a\n\nFirst words of it.\n\n```\ncode here\n```\n\nAnd the last words of it."
    text, written = started("My question"), ""
    words: list[str] = []
    cut = 0
    while cut < len(body):
        cut = min(len(body), cut + data.draw(st.integers(1, 25)))
        if data.draw(st.booleans()):
            marks = [found.span() for found in re.finditer(r"<!--.*?-->|## \w+|‹\d+›", text)]
            places = [place for place in range(len(text) + 1) if not any(low < place < high for low, high in marks)]
            place = data.draw(st.sampled_from(places))
            word = f"‹{len(words)}›"
            text = spliced(text, (Splice(place, place, word),))
            words.append(word)
        now = body[:cut].strip("\n")
        change = updated(parse(text), said(now, running=cut < len(body)), said(written))
        if change is not None:
            text, written = spliced(text, change), now
        assert all(text.count(word) == 1 for word in words)
    assert "words of it." in re.sub(r"‹\d+›", "", text)
