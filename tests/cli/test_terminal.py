from __future__ import annotations

import pytest

from codelaw.cli.terminal import harmless, in_parts, one_line, two_parts
from codelaw.cli.wrapping import Wrapping


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\tb\nc", "a\tb\nc"),
        ("\x1b[2J\x07\x00", "⟨U+001B⟩[2J⟨U+0007⟩⟨U+0000⟩"),
        ("a\r\nb", "a⟨U+000D⟩\nb"),
        ("\x9b\x7f", "⟨U+009B⟩⟨U+007F⟩"),
        ("\u202e\u2066\ud800", "⟨U+202E⟩⟨U+2066⟩⟨U+D800⟩"),
        ("größe 😀", "größe 😀"),
    ],
)
def test_controls_become_visible(text, shown):
    assert harmless(text) == shown


def test_one_line_is_one_line():
    assert one_line("a\n b\x1b", 80) == "a b⟨U+001B⟩"
    assert one_line("abcdef", 4) == "abc…"
    assert one_line("abcd", 4) == "abcd"


def test_two_parts_share_a_line(monkeypatch):
    monkeypatch.setenv("COLUMNS", "31")
    assert two_parts("✓ $ echo", "· Exit code 0.") == "✓ $ echo · Exit code 0."
    assert two_parts("✓ $ echo one two three four five", "· Exit code 0.") == "✓ $ echo one t… · Exit code 0."
    assert two_parts("✓ $ echo", "") == "✓ $ echo"
    assert two_parts("✓ Grep x", "· 12 lines in 3 fil") == "✓ Grep x · 12 lines in 3 fil", (
        "a short head leaves its room"
    )
    assert two_parts("✓ $ echo one two three four", "· a b c d e f g h i j") == "✓ $ echo one t… · a b c d e f…"
    assert two_parts("✓ 搜索 漢字", "· 三個文件中有十二行") == "✓ 搜索 漢字 · 三個文件中有十…"


@pytest.mark.parametrize(("columns", "lines"), [(60, 2), (80, 2), (120, 1)])
def test_a_line_of_parts_breaks_between_them(monkeypatch, columns, lines):
    monkeypatch.setenv("COLUMNS", str(columns))
    parts = ["1 step", "3 996 tokens in (3 939 cached), 9 out", "$0.0006", "context 2 %", "chat 569bd82167bd"]
    broken = in_parts(parts)
    assert broken.replace("\n", " ") == " · ".join(parts)
    assert len(broken.split("\n")) == lines
    assert all(len(line) < columns for line in broken.split("\n"))


PROSE = """I am a reader of files, and quote them.

- `a/long/path.py:12` says what it says
  10. and so on it goes, line by line

```
code that is longer than a line of it
```
漢字漢字漢字漢字漢字漢字 and_a_word_that_is_longer_than_a_line end
"""
WRAPPED = """I am a reader of
files, and quote
them.

- `a/long/path.py:12`
  says what it says
  10. and so on it
      goes, line by
      line

```
code that is longer than a line of it
```
漢字漢字漢字漢字漢字
漢字
and_a_word_that_is_l
onger_than_a_line
end
"""


@pytest.mark.parametrize("piece", [1, 2, 7, 1000])
def test_prose_is_wrapped_at_words_however_it_streams_in(piece):
    wrapping = Wrapping(20, lambda character: 2 if ord(character) > 0x3000 else 1)
    reported = "".join(wrapping.feed(PROSE[at : at + piece]) for at in range(0, len(PROSE), piece)) + wrapping.rest()
    assert reported == WRAPPED
