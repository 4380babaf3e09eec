"""Compaction on the terminal (K-6, K-10)."""

from __future__ import annotations

import pytest

from codelaw.protocol.outcomes import figures, outcome
from tests.cli.driving import STEERING, Terminal, received, run

TIMED_OUT = "Summary generation timed out, keeping recent history only."
WHOLE = {
    "compacted": True, "reason": "manual", "roundsArchived": 14, "roundsKept": 10, "tokensBefore": 161_000,
    "tokensAfter": 62_000, "summary": "model", "seconds": 8.2, "thinned": 0, "message": "",
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "reported"),
    [
        ({}, "Compacted: 14 rounds archived, 10 kept, 161k → 62k tokens, 8 s"),
        ({"roundsArchived": 1, "thinned": 1}, "1 round archived, 10 kept, 1 old result thinned, 161k → 62k tokens, 8 s"),
        ({"roundsArchived": 0, "thinned": 12, "seconds": 0.04}, "Compacted: 12 old results thinned, 161k → 62k tokens, 0 s"),
        ({"summary": "none"}, "14 rounds archived without a summary, 10 kept"),
        ({"tokensBefore": 1_049_000, "tokensAfter": 9_960}, "1M → 10k tokens"),
        ({"tokensBefore": 1_240, "tokensAfter": 999}, "1.2k → 999 tokens"),
        ({"compacted": False, "reason": "rounds_not_enough"}, "Nothing to compact: every round is recent enough to stay"),
        ({"compacted": False, "reason": "below_low_water"}, "everything fits below the low-water mark"),
        ({"compacted": False, "reason": "cancelled"}, "The compaction was cancelled"),
        ({"compacted": False, "reason": "summary_failed"}, "the history stays as it was"),
        ({"compacted": False, "reason": "of a newer server"}, "Nothing was compacted"),
    ],
)  # fmt: skip
def test_a_report_in_words(changes, reported):
    assert reported in figures(WHOLE | changes)
    assert outcome(WHOLE | changes) == f"{figures(WHOLE | changes)}."


def test_a_message_is_told_word_for_word():
    assert outcome(WHOLE | {"message": TIMED_OUT}) == TIMED_OUT


def test_a_compaction_within_a_turn_is_one_line_aside(log):
    done = run("compacts", log, "chat", "hi")
    assert done.returncode == 0
    assert done.stdout == "Hello.\n"
    line = "Compacted: 14 rounds archived, 10 kept, 161k → 62k tokens, 8 s"
    assert done.stderr.splitlines() == [
        "The compaction was cancelled.",
        line,
        "2 steps · 21 tokens in (7 cached), 7 out · chat c1",
    ]


@pytest.mark.parametrize(
    ("scene", "lines"),
    [
        ("thinned", ["Compacted: 12 old results thinned, 161k → 62k tokens, 0 s"]),
        ("timeout", [TIMED_OUT, "Compacted: 14 rounds archived without a summary, 10 kept, 161k → 62k tokens, 8 s"]),
        ("failing", ["It failed: ⟨U+001B⟩[31mred⟨U+0007⟩⟨U+000D⟩⟨U+009B⟩2J ⟨U+202E⟩right."]),
        ("few", ["Nothing to compact: every round is recent enough to stay"]),
    ],
)  # fmt: skip
def test_what_was_not_as_wished_is_told_once(log, scene, lines):
    done = run(scene, log, "chat", "hi")
    assert done.stdout == "Hello.\n"
    assert done.stderr.splitlines()[1:-1] == lines


def test_commands_of_a_conversation(log):
    terminal = Terminal("compacts", log, "chat", "--chat", "c1")
    terminal.until("agent> ")
    terminal.type("/compact\n")
    terminal.until("… Compacting the chat")
    terminal.until("8 s; /restore undoes it, /summary shows it")
    terminal.until("agent> ")
    terminal.type("/summary\n")
    terminal.until("# ⟨U+001B⟩[31mred⟨U+0007⟩")
    terminal.until("cut1  19")
    terminal.until("1 round archived")
    terminal.until("agent> ")
    terminal.type("/restore\n")
    terminal.until("The newest compaction is undone")
    terminal.until("agent> ")
    terminal.type("/restore cut1\n")
    terminal.until("Undone back to cut1")
    terminal.until("agent> ")
    terminal.type("/context\n")
    terminal.until("L3    summaries")
    terminal.until("900 of 200000 tokens; compacted from 160000; strategy layered")
    terminal.until("── L3 summaries ──")
    terminal.until("# Summary")
    terminal.until("agent> ")
    terminal.type("hi\n")
    terminal.until("/restore undoes it, /summary shows it")
    terminal.until("Hello.")
    terminal.until("agent> ")
    terminal.type("/help\n")
    terminal.until("/compact ")
    terminal.until("agent> ")
    terminal.type("\x04")
    assert terminal.status() == 0
    assert received(log, "codelaw/context/compact") == [{"chatId": "c1"}]
    assert received(log, "codelaw/context/restore") == [{"chatId": "c1"}, {"chatId": "c1", "checkpointId": "cut1"}]
    assert terminal.text.count("Compacted: ") == 2, "one by command, one within the turn"
    shown = terminal.text.replace("\x1b", "").replace("\r", "")
    assert not [mark for mark in STEERING if mark in shown and mark != "\b"]


def test_ctrl_c_cancels_the_compaction_and_the_conversation_goes_on(log):
    terminal = Terminal("endless", log, "chat", "--chat", "c1")
    terminal.until("agent> ")
    terminal.type("/compact\n")
    terminal.until("This takes long.")
    terminal.type("\x03")
    terminal.until("Cancelling…")
    terminal.until("Cancelled, nothing is lost.")
    terminal.until("agent> ")
    terminal.type("/quit\n")
    assert terminal.status() == 0
    assert len(received(log, "$/cancelRequest")) == 1
