"""What is not seen is shown, or taken away (S-2, S-7)."""

from __future__ import annotations

import sys
import unicodedata

import pytest

from codelaw.domain.safety.unseen import concealed, has_unseen, legible, title, visible, visible_line, without_hidden

SHAPELESS = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
"""Letters and marks that are drawn as nothing."""
SEEN_FORMATS = "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u08e2\U000110bd\U000110cd\u0890\u0891"
"""Characters of the category Cf that are drawn."""


def test_every_control_format_separator_and_shapeless_character_is_shown():
    missed = [
        f"U+{code:04X}"
        for code in range(sys.maxunicode + 1)
        if (unicodedata.category(chr(code)) in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp", "Zs"} or chr(code) in SHAPELESS)
        and chr(code) not in f" \t\n{SEEN_FORMATS}"
        and visible(chr(code)) != f"⟨U+{code:04X}⟩"
    ]
    assert missed == []


def test_what_is_seen_stays_as_it_is():
    text = "rm -rf ./build\t# Übung, 日本語, ελληνικά, עברית, 👍\nsecond"
    assert visible(text) == legible(text) == without_hidden(text) == text
    assert not has_unseen(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("\x1b[2K", "⟨U+001B⟩[2K"),
        ("\U000e0041\u200b", "⟨U+E0041⟩⟨U+200B⟩"),
        ("rm\xa0x", "rm⟨U+00A0⟩x"),
        ("one\r\ntwo\rthree", "one\ntwo⟨U+000D⟩three"),
        ("👍\ufe0f", "👍⟨U+FE0F⟩"),
    ],
)
def test_the_code_stands_in_the_place_of_what_is_hidden(text: str, shown: str):
    assert visible(text) == shown
    assert has_unseen(text)


def test_prose_keeps_its_blanks_and_what_joins_its_pictures():
    assert legible("a\xa0b\u3000c 👩\u200d💻\ufe0f\x1b[2J\u200b") == "a\xa0b\u3000c 👩\u200d💻\ufe0f⟨U+001B⟩[2J⟨U+200B⟩"


def test_a_line_has_no_ends():
    assert visible_line("a\nb\tc") == "a⟨U+000A⟩b⟨U+0009⟩c"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ls  -l", "ls -l"),
        (" ls\n", "ls"),
        ("ls\nrm -rf /", "ls …"),
        ("x" * 30, "x" * 19 + "…"),
        ("a\x1bb\u2028c", "a⟨U+001B⟩b⟨U+2028⟩c"),
        ("a\u202e" + "b" * 30, "a⟨U+202E⟩bbbbbbbbbb…"),
    ],
)
def test_a_title_is_the_first_line_and_says_when_there_is_more(text: str, shown: str):
    assert title(text, 20) == shown


def test_what_hides_is_taken_away_and_lines_have_one_end():
    text = "\ufeffa\u200bb\r\nc\u2028d\x85e\U000e0068\U000e0069\u202ef\u3164g\xa0h"
    assert without_hidden(text) == "ab\nc\nd\nefg\xa0h"


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("\ufeff# Law\r\n- 👩\u200d💻 1\ufe0f\u20e3 ❤\ufe0f می\u200cخواهم", []),
        ("be good\u200b", [(7, 8)]),
        ("a\u202eb\U000e0061\U000e0062c", [(1, 2), (3, 5)]),
        ("x\u200dy", [(1, 2)]),
        ("❤\ufe0f\ufe01\ufe02", [(1, 4)]),
        ("a\ufeffb", [(1, 2)]),
    ],
)
def test_concealed_text_is_found_and_ordinary_text_is_not(text: str, places: list[tuple[int, int]]):
    assert list(concealed(text)) == places
