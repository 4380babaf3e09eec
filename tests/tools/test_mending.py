"""Edits that miss: mended where exactly one place fits, else answered with the nearest text (T-5)."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codelaw.domain.errors import ToolFailure
from codelaw.tools.changing.matching import Replacement, replaced

SPACES = """import os


def first(name):
    if name == "a":
        return name
    return None


def second(name):
    if name == "b":
        return name + "'s"
    return None
"""
TABS = SPACES.replace("    ", "\t")


def mend(text: str, old: str, new: str) -> tuple[str, str]:
    """The new text, and what is told."""
    done = replaced(text, [Replacement(old, new)])
    return done.text, " ".join(done.mended)


def refusal(text: str, old: str, new: str = "x") -> str:
    with pytest.raises(ToolFailure) as refused:
        replaced(text, [Replacement(old, new)])
    assert refused.value.code == "INVALID_PARAM"
    return refused.value.message


@pytest.mark.parametrize("form", ["{:>5}\t", "{}\t", "{:>6}\u2192", "{}: ", "{:>4} | ", "{}|", "{:>5}    "])
@pytest.mark.parametrize("numbered", [True, False])
def test_line_numbers_are_taken_off(form: str, numbered: bool):
    old = ["def second(name):", '    if name == "b":']
    new = ["def third(name):", '    if name == "c":', "        pass"]
    sent = "\n".join(form.format(number) + line for number, line in enumerate(old, 10))
    meant = "\n".join(form.format(number) + line if numbered else line for number, line in enumerate(new, 10))
    text, reported = mend(SPACES, sent, meant)
    assert text == SPACES.replace("\n".join(old), "\n".join(new))
    assert "fits lines 10-11 alone" in reported
    assert "line numbers taken off" in reported


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            "    1\timport os",
            "    1\timport re\nimport io",
            "the line numbers of new_string are not like those of old_string",
        ),
        ("    4\tdef first(name):\n    9\t    if name", "x", "was not found"),
        ("    1\timport os", "    2\timport re", "the line numbers of new_string are not like those of old_string"),
        ("    1\timport", "x", "was not found"),
        ("    7\t    return None", "    7\t    return 1", "fits 2 places (lines 7, 13)"),
    ],
)
def test_what_is_left_of_numbered_lines_may_be_too_little(old: str, new: str, says: str):
    assert says in refusal(SPACES, old, new)


def test_numbers_that_belong_to_the_file_stay():
    table = "1\tone\n2\ttwo\n3\tthree\n"
    assert mend(table, "2\ttwo", "2\tzwei") == ("1\tone\n2\tzwei\n3\tthree\n", "")


@pytest.mark.parametrize(
    ("text", "old", "new", "after"),
    [
        (
            SPACES,
            '\tif name == "b":\n\t\treturn name',
            "\tif name:\n\t\treturn 1",
            '    if name:\n        return 1 + "\'s"',
        ),
        (
            TABS,
            '    if name == "a":\n        return name',
            "    if name:\n        return 1",
            "\tif name:\n\t\treturn 1",
        ),
    ],
)
def test_tabs_for_spaces(text: str, old: str, new: str, after: str):
    old, new = (sent + ' + "\'s"' if text is SPACES and "return name" in sent else sent for sent in (old, new))
    changed, reported = mend(text, old, new)
    assert after.removesuffix(' + "\'s"') in changed
    assert "tabs and spaces read as the file has them" in reported


def test_a_block_with_other_indentation_is_moved_with_its_new_text():
    old = 'if name == "a":\n    return name\nreturn None'
    new = 'if name == "a":\n    if old:\n        return old\n    return name\n\nreturn 1'
    text, reported = mend(SPACES, old, new)
    moved = "\n".join("    " + line if line else line for line in new.split("\n"))
    assert text == SPACES.replace("\n".join("    " + line for line in old.split("\n")), moved, 1)
    assert "indentation moved right by 4 columns" in reported
    further = "\n".join("  " + line for line in ("def first(name):", '    if name == "a":'))
    text, reported = mend(SPACES, further, further.replace("first", "one"))
    assert text == SPACES.replace("first", "one")
    assert "indentation moved left by 2 columns" in reported


def test_blanks_at_line_ends_stay_as_the_file_has_them():
    file = "one  \n two\nthree\n"
    assert mend(file, "one\n two\nthree", "one\n 2\nthree")[0] == "one  \n 2\nthree\n"
    assert mend(file, "one    \n two  \nthree  ", "one    \n 2  \n 2b  \nthree  ")[0] == "one  \n 2\n 2b\nthree\n"
    assert "not certain" in refusal(file, "one    \n two  \nthree  ", "one    \n 2   \t\nthree  ")


def test_a_new_line_of_blanks_is_a_guess_where_blanks_were_sent_by_mistake():
    assert "not certain" in refusal("one\ntwo\n", "one  \ntwo  ", "one  \n  \n2  ")
    file = "one\n\ntwo\n"
    assert mend(file, "one  \n  \ntwo  ", "one  \n  \n1  \n  \ntwo  ")[0] == "one\n\n1\n\ntwo\n"


def test_look_alikes_keep_the_characters_of_the_file():
    file = 'say(\u201cyes\u201d)  # caf\u00e9 \u2013 now\nsay("no")\n'
    text, reported = mend(file, 'say("yes")  # cafe\u0301 - now', 'say("yes", 1)  # cafe\u0301 - now')
    assert text == file.replace("yes\u201d", "yes\u201d, 1")
    assert "look-alike characters" in reported
    text, reported = mend('say("no")\n', "say(\u201cno\u201d)", "say(\u201cno\u201d, \u201coh\u201d)")
    assert text == 'say("no", "oh")\n'
    assert "It fits line 1 alone and was replaced there: look-alike characters read as the file's." in reported
    assert mend("a\u00a0b and c\n", "a b and c", "a b and d")[0] == "a\u00a0b and d\n"
    assert "not certain" in refusal(file + "# \u201d", "say(\u201dno\u201d)", "say(\u201dno\u201d, \u201d2\u201d)")
    assert "nothing but how characters look" in refusal('say("no")\n', "say(\u201cno\u201d)", 'say("no")')


def test_escaped_text_is_read_as_what_it_stands_for():
    old, new = 'def second(name):\n    if name == "b":', 'def second(name):\n    if name in "b\\n":'
    after = SPACES.replace(old, new)
    text, reported = mend(SPACES, json.dumps(old)[1:-1], json.dumps(new)[1:-1])
    assert text == after
    assert "escapes read as the characters they stand for" in reported
    quoted = old.replace('"', r"\"")
    assert mend(SPACES, quoted, quoted.replace("second", "third"))[0] == SPACES.replace("second", "third")
    assert "not certain" in refusal(SPACES, json.dumps(old)[1:-1], new)
    assert mend("a < b && c\n", "a &lt; b &amp;&amp; c", "a &gt; b")[0] == "a > b\n"
    assert "both HTML entities" in refusal("a < b && c\n", "a &lt; b", "a &gt; b < c")


def test_escapes_that_could_be_part_of_the_new_text_are_a_guess():
    said = refusal("a = 1\nb = 2\n", r"a = 1\nb = 2", r"a = 1\np = 'C:\\dir'")
    assert "can be read in 2 ways" in said
    assert mend("a = 1\nb = 2\n", r"a = 1\nb = 2", r"a = 1\nb = \"x\"")[0] == 'a = 1\nb = "x"\n'


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  import os", "\timport os"),
        ("import os   ", "import os "),
        ('if name == "a":\n    return name\nreturn None', 'if name == "a":\n  return name\nreturn None'),
    ],
)
def test_an_edit_of_white_space_alone_is_never_mended_by_white_space(old: str, new: str):
    assert "changes nothing but white space" in refusal(SPACES, old, new)


def test_two_places_are_told_and_none_is_taken():
    text = "  a = 1\n\n    a = 1\n"
    assert "fits 2 places (lines 1, 3)" in refusal(text, "\ta = 1", "\ta = 2")
    # One place fits with the tab's width alone, the other with a moved block: both count.
    text = "\t\ta = 1\n\tb = 2\n\na = 1\nb = 2\n".replace("\na = 1\nb", "\n\ta = 1\nb")
    assert "fits 2 places" in refusal(text, "    \ta = 1\n    b = 2", "    \ta = 3\n    b = 2")


def test_a_place_whose_lines_differ_unevenly_is_no_fit_and_leaves_no_other_the_only_one():
    uneven = "\t\ta = 1\n b = 2\n"
    assert "its lines differ unevenly" in refusal(uneven, "a = 1\n    b = 2", "a = 2\n    b = 2")
    assert "fits 2 places" in refusal(uneven + "\ta = 1\n\t    b = 2\n", "  a = 1\n      b = 2", "x")


def test_what_misses_shows_the_nearest_text_and_what_differs():
    said = refusal(SPACES, 'def second(name):\n    if name == "c":\n        return name + "\'s"', "x")
    assert said == (
        "old_string was not found. The nearest is lines 10-12. What differs, as sent (-) and in the file (+):\n"
        '-     if name == "c":\n'
        '+ 11:     if name == "b":'
    )
    left_out = refusal(SPACES, "def first(name):\n        return name", "x")
    assert "nearest is lines 4-6" in left_out
    assert '+ 5:     if name == "a":' in left_out
    assert "- " not in left_out.partition("\n")[2]
    assert "nothing like it is in the file" in refusal(SPACES, "completely_other_words", "x")
    assert "The file is empty: use Write." in refusal("", "x", "y")


def test_a_long_difference_is_cut():
    file = "".join(f"line {number} of the file\n" for number in range(100))
    said = refusal(
        file, "line 0 of the file\n" + "".join(f"{number} words\n" for number in range(90)) + "line 99 of the file"
    )
    assert len(said.split("\n")) == 14
    assert "more lines differ" in said
    wide = refusal("y" * 5_000 + " end\nsecond line\n", "z" * 5_000 + "\nsecond line")
    assert len(wide) < 600


LINES = st.lists(st.sampled_from(["a = 1", "\tb = 2", "    c", "", "d\u2019s", "  }", "12\te"]), min_size=1, max_size=6)


@settings(max_examples=300, deadline=None)
@given(LINES, LINES, LINES, LINES)
def test_whatever_is_sent_either_fails_or_changes_one_place(
    before: list[str], old: list[str], after: list[str], new: list[str]
):
    text = "\n".join([*before, *old, *after])
    sent = "\n".join(f"{number}\t{line}" for number, line in enumerate(old, 3))
    try:
        done = replaced(text, [Replacement(sent, "\n".join(new))])
    except ToolFailure:
        return
    assert done.count == 1
    if done.mended:
        whole = text.split("\n")
        made = done.text.split("\n")
        gone = len(whole) - len(made) + len(new)
        kept = [at for at in range(len(whole)) if whole[:at] + new + whole[at + gone :] == made]
        assert kept, (text, sent, done.text)


def test_line_breaks_are_left_out_only_at_the_end_of_the_file():
    assert mend("one\ntwo", "two\n", "2\n")[0] == "one\n2"
    assert "nearest is line 2" in refusal("one\ntwo\nthree", "two\n\n", "2\n\n")
    assert "was not found" in refusal("one\n@kept\ntwo\n", "one\ntwo", "one\n2")
