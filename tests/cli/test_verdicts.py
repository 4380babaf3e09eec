from __future__ import annotations

import pytest

from codelaw.cli.verdicts import KEYS, verdict, without_keys


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("y", ("allow_once", "")),
        (" YES! ", ("allow_once", "")),
        ("ok.", ("allow_once", "")),
        ("ｙ", ("allow_once", "")),
        ("allow", ("allow_once", "")),
        ("a", ("allow_chat", "")),
        ("always", ("allow_always", "")),
        ("n", ("reject", "")),
        ("No", ("reject", "")),
        ("n: use ninja", ("reject", "use ninja")),
        ("no, use ninja", ("reject", "use ninja")),
        ("n：用 ninja", ("reject", "用 ninja")),
        ("n:", ("reject", "")),
        ("", None),
        ("yes but only once", None),
        ("nothing", None),
        ("not: this", None),
        ("\x1b[A", None),
        ("\x1bOA\x1b[1;5C\x1b[200~y\x1b[201~", ("allow_once", "")),
    ],
)
def test_natural_words_are_understood(typed, read):
    assert verdict(typed, KEYS) == read


def test_only_what_is_offered_can_be_chosen():
    assert verdict("always", {"allow_once", "reject"}) is None
    assert verdict("n: why", {"allow_once"}) is None


@pytest.mark.parametrize("typed", ["a", "y", "yes", "ok"])
def test_a_plain_yes_sends_a_chat(typed):
    """Where the only yes is one for the chat, nothing else can be meant."""
    assert verdict(typed, ("allow_chat", "reject", "stay")) == ("allow_chat", "")


@pytest.mark.parametrize("typed", ["always", "once", "sure"])
def test_other_words_do_not_send_a_chat(typed):
    assert verdict(typed, ("allow_chat", "reject", "stay")) is None


def test_a_plain_yes_is_never_a_standing_one_elsewhere():
    assert verdict("yes", ("allow_chat", "allow_always", "reject")) is None


def test_keys_are_no_words():
    assert without_keys("\x1b[A\x1b[3~use\tit\x07\x1b") == "use\tit"
