"""The format of chat files, and weaving a turn into one that a person edits (E-3)."""

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
    harmless,
    header,
    named_chat_file,
    opening,
    parse,
)
from codelaw.transcript.chat_file.fences import fenced, left_open
from codelaw.transcript.chat_file.syncing import Telling, Woven, adopted, begun, landed, restored, weave

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
    text = f"{header('c1')}\n\n{YOU}\n\nQ\n\n{block('t1', harmless(answer))}\n\n{YOU}\n\nNext?\n"
    file = parse(text)
    assert file.chat_id == "c1"
    (found,) = file.blocks
    assert text[found.start : found.end].strip("\n") == harmless(answer).strip("\n")
    assert question(text) == "Next?"


def test_comments_of_the_format_in_an_answer_end_nothing() -> None:
    answer = f"{opening('t1')}\n{closing('t1')}\n<!-- codelaw chat evil -->\n<!-- a comment -->"
    told = harmless(answer)
    assert "<!-- a comment -->" in told
    assert "<!-- /turn" not in told
    assert len(parse(block("t1", told)).blocks) == 1


@given(st.text(alphabet="a`~\n ", max_size=60))
def test_a_fence_holds_any_text(text: str) -> None:
    made = fenced(text)
    assert left_open(made) is None
    mark = re.match("`+", made)
    assert mark is not None
    assert made.count(mark[0]) == 2


def telling(body: str, *, running: bool = True, status: str = "*Thinking …*") -> Telling:
    return Telling("t1", body, running, status if running else "")


def started(text: str) -> tuple[str, Woven]:
    change = begun(parse(text), "c1", telling(""), question(text) or "")
    return spliced(text, change.splices), change.woven


def told(text: str, woven: Woven, said: Telling) -> tuple[str, Woven]:
    change = weave(parse(text), said, woven)
    assert change is not None
    after = spliced(text, change.splices)
    assert landed(after, said, change.woven)
    return after, change.woven


def test_a_turn_is_woven_in_piece_by_piece() -> None:
    text, woven = started("What?\n")
    assert text == f"{header('c1')}\n\nWhat?\n\n{opening('t1')}\n\n*Thinking …* <!-- /turn t1 running -->\n\n## You\n\n"
    for body in (
        "> - Read a",
        "> - Read a\n> - Read b",
        "> - Read a\n> - Read b\n\nIt is",
        "> - Read a\n> - Read b\n\nIt is 42.",
    ):
        text, woven = told(text, woven, telling(body))
    text, woven = told(text, woven, telling("> - Read a\n> - Read b\n\nIt is 42.", running=False))
    assert text.endswith(block("t1", "> - Read a\n> - Read b\n\nIt is 42.") + "\n\n## You\n\n")


def test_what_was_written_below_the_question_meanwhile_is_the_next_one() -> None:
    change = begun(parse("What?\nMore\n"), "c1", telling(""), "What?")
    after = spliced("What?\nMore\n", change.splices)
    assert question(after) == "More"
    assert after.index("What?") < after.index("turn t1") < after.index("More")


def test_a_forgotten_fence_of_the_question_is_closed() -> None:
    text, _ = started("Why?\n```py\nx = 1")
    assert "x = 1\n```\n\n## codelaw" in text


def test_a_withdrawn_step_is_taken_back() -> None:
    text, woven = started("What?")
    text, woven = told(text, woven, telling("> - Read a\n\nIt may be"))
    text, woven = told(text, woven, telling("> - Read a\n\nNo: it is"))
    assert "It may be" not in text
    assert "> - Read a\n\nNo: it is\n\n*Thinking" in text


def test_what_a_person_wrote_behind_the_last_word_is_not_written_into() -> None:
    text, woven = started("What?")
    text, woven = told(text, woven, telling("One two thr"))
    text = text.replace("One two thr", "One two thr MINE")
    text, woven = told(text, woven, telling("One two three four"))
    assert "One two thr MINE\n\nthree four" in text
    text, _ = told(text, woven, telling("One two three four five", running=False))
    assert "One two thr MINE\n\nthree four five\n\n<!-- /turn t1 -->" in text


def test_a_line_of_the_persons_beside_the_end_stays() -> None:
    text, woven = started("What?")
    text = text.replace("*Thinking …*", "*Thinking …* mine")
    text, woven = told(text, woven, telling("A"))
    text, _ = told(text, woven, telling("A B", running=False))
    assert "A B\n\n*Thinking …* mine <!-- /turn t1 -->" in text


def test_a_deleted_block_comes_back_above_the_next_question() -> None:
    text, woven = started("What?")
    text = text[: text.index("## codelaw")] + "## You\n\nNext one\n"
    file = parse(text)
    assert weave(file, telling("A"), woven) is None
    after = spliced(text, restored(file, telling("A", running=False)).splices)
    assert parse(after).block("t1") is not None
    assert question(after) == "Next one"


def test_a_deleted_end_is_put_back() -> None:
    text, woven = started("What?")
    text, woven = told(text, woven, telling("A"))
    text = text.replace("*Thinking …* <!-- /turn t1 running -->\n", "")
    text, _ = told(text, woven, telling("A B", running=False))
    assert question(text) is None
    found = parse(text).block("t1")
    assert found is not None
    assert found.closed


def test_a_file_of_an_earlier_server_is_gone_on_with() -> None:
    text, woven = started("What?")
    text, _ = told(text, woven, telling("One\n\ntwo"))
    whole = telling("One\n\ntwo and three", running=False)
    same, _ = told(text, adopted(parse(text), whole), whole)
    assert "One\n\ntwo and three\n\n<!-- /turn t1 -->" in same
    changed = text.replace("two", "2")
    after, _ = told(changed, adopted(parse(changed), whole), whole)
    assert "One\n\n2\n\ntwo and three\n\n<!-- /turn t1 -->" in after


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_nothing_that_is_typed_is_ever_lost(data: st.DataObject) -> None:
    """Between any two changes of ours somebody types a word anywhere."""
    body = "> - Read a\n\nFirst words of it.\n\n```\ncode here\n```\n\nAnd the last words of it."
    text, woven = started("My question")
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
        file = parse(text)
        change = weave(file, telling(body[:cut], running=cut < len(body)), woven)
        if change is None:  # the heading or the chat was typed into
            assert file.block("t1") is None
            continue
        text, woven = spliced(text, change.splices), change.woven
        assert all(text.count(word) == 1 for word in words)
