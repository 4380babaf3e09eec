"""Messages that call a command, and what the command's text becomes with arguments (X-7)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codelaw.domain.extensions import Sheet
from codelaw.skills.commands import LONGEST_COMMAND, CommandCall, call, command, expanded

SHEET = Sheet("review", ".codelaw/commands/review.md", "file:///review.md", own=False)


@pytest.mark.parametrize(
    ("text", "called"),
    [
        ("/review", CommandCall("review", "")),
        ("/review  src/a.py now \n", CommandCall("review", "src/a.py now")),
        ("/git:commit\nall of it\nplease", CommandCall("git:commit", "all of it\nplease")),
        (" /review", None),
        (f"/{'x' * 101}", None),
    ],
)
def test_a_message_calls_by_its_first_word(text: str, called: CommandCall | None):
    assert call(text) == called


@pytest.mark.parametrize(
    ("body", "arguments", "made"),
    [
        ("Look at $ARGUMENTS.", "a b", "Look at a b."),
        ("$1 before $2, not $3.", "a 'b c'", "a before b c, not ."),
        ("$1 of $ARGUMENTS", "it's", "it's of it's"),
        ("Look.", "at it", "Look.\n\nArguments: at it"),
        ("costs $10, $ARGUMENTSX, $0", "x", "costs $10, $ARGUMENTSX, $0\n\nArguments: x"),
    ],
)
def test_arguments_stand_where_the_text_has_a_place_for_them(body: str, arguments: str, made: str):
    assert expanded(body, arguments, 1000) == made


@given(st.text(), st.text())
def test_no_argument_is_lost_and_nothing_is_put_in_twice(body: str, arguments: str):
    made = expanded(f"{body} $ARGUMENTS", arguments, 10**6)
    assert made is not None
    assert made.endswith(f" {arguments}")


def test_a_file_says_what_it_is_for():
    said = command(SHEET, "---\ndescription: Look\n  twice\nargument-hint: '[path]'\nmodel: x\n---\n\nLook at $1.\n")
    assert (said.description, said.arguments, said.body, said.problem) == ("Look twice", "[path]", "Look at $1.", "")
    assert command(SHEET, "\n# Look at it\n\nTwice.").description == "Look at it"
    assert command(SHEET, "").description == ""
    long = command(SHEET, "x" * (LONGEST_COMMAND + 1))
    assert (len(long.body), long.problem) == (
        LONGEST_COMMAND,
        f"It has {LONGEST_COMMAND + 1} characters; the first {LONGEST_COMMAND} count.",
    )
