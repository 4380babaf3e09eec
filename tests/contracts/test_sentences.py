"""What a person reads is plain English: short sentences that say what is wrong and what to do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from codelaw.cli.usage import COMMANDS, GROUPS
from scripts.sentences import Sentence, sentences

RIDDLES = re.compile(
    r"\b(?:so many|told|mend|whereof|thereof)\b"
    r"|\bis none\b"
    r"|(?<![Tt]here )\b(?:is|are) no (?!longer\b|more\b|shorter\b|limit\b)"
    r"|\bnames nothing\b|\bno more than so\b"
)
"""Words that made readers guess: 'a number' is said for 'so many', 'is not a' for 'is no'."""
LONGEST = 60
"""Words in one sentence."""


def riddles(said: list[Sentence]) -> list[str]:
    return [f"{file}:{line}: {text}" for file, line, text in said if RIDDLES.search(text)]


@pytest.fixture(scope="module")
def said() -> list[Sentence]:
    found = list(sentences())
    assert len(found) > 200
    return found


def test_no_sentence_is_a_riddle(said: list[Sentence]) -> None:
    assert riddles(said) == []


def test_no_sentence_is_longer_than_a_breath(said: list[Sentence]) -> None:
    long = [
        f"{file}:{line}: {part}"
        for file, line, text in said
        for part in re.split(r"(?<=[.:;?!])\s", text)
        if len(part.split()) > LONGEST
    ]
    assert long == []


def test_what_a_setting_does_is_a_whole_sentence(said: list[Sentence]) -> None:
    described = [one for one in said if one.file.startswith("settings/") and not one.text.startswith("…")]
    assert described
    assert [f"{file}:{line}: {text}" for file, line, text in described if text[-1] not in ".`"] == []


def test_help_of_the_terminal_begins_small_and_ends_open() -> None:
    """The form that argparse gives its own lines, without a riddle."""
    lines = [GROUPS[name] for name in GROUPS]
    for _, summary, options in COMMANDS.values():
        lines += [summary, *(line.partition("  ")[2] for line in options.splitlines() if line)]
    assert len(lines) > 100
    assert [line for line in lines if not line or line[0].isupper() or line.endswith(".") or RIDDLES.search(line)] == [
        line for line in lines if line.startswith(("MCP", "TCP"))
    ]


@pytest.mark.parametrize(
    "text", ["Use at most so many tokens.", "The URL is none: x", "x is no open chat file", "You are told of it."]
)
def test_a_riddle_is_seen(text: str) -> None:
    assert riddles([Sentence("a.py", 1, text)])


def test_sentences_are_found_where_they_stand(tmp_path: Path) -> None:
    code = 'raise Refusal("code", f"There is no chat {name}.", hint="List the chats." if many else "Ask again.")\n'
    (tmp_path / "a.py").write_text(
        code + 'group.add_argument("--all", help="list all of them")\nlen("not a sentence")\n'
    )
    assert [text for _, _, text in sentences(tmp_path)] == [
        "There is no chat ….",
        "List the chats. / Ask again.",
        "list all of them",
    ]
