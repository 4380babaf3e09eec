"""Keys taken out of texts (S-5)."""

from __future__ import annotations

import itertools
import json
import random
from dataclasses import dataclass
from urllib.parse import quote

import pytest

from codelaw.domain.safety.redaction import Redaction, mark, telling

KEY = "k3y-AbC-9f8e7d6c5b4a"
LONGER = f"{KEY}-longer"
ODD = 'pa"ss\\wo rd/1'
KNOWN = {KEY: "model key", LONGER: "embedding key", ODD: "store password", "aaaaaaa1aaaaaaa2": "repeating"}


@pytest.fixture
def redaction() -> Redaction:
    return Redaction(KNOWN)


def test_a_known_value_has_a_mark_in_its_place_however_it_is_spelt(redaction: Redaction):
    assert redaction.text(f"a {KEY} b {LONGER}") == "a [redacted: model key] b [redacted: embedding key]"
    for spelling in (ODD, json.dumps(ODD)[1:-1], quote(ODD, safe="")):
        assert redaction.text(f"<{spelling}>") == "<[redacted: store password]>"
    assert redaction.text(KEY[:-1]) == KEY[:-1]


def test_a_text_in_pieces_joins_to_what_the_whole_gives(redaction: Redaction):
    text = f"x {KEY[:7]}{KEY} {LONGER[:-1]} {LONGER}{ODD} aaaaaaa1aaaaaaa1aaaaaaa2 k3y k3y-"
    whole = redaction.text(text)
    assert KEY not in whole
    chance = random.Random(7)
    cuttings = [range(1, len(text)), *([place] for place in range(len(text)))]
    cuttings += [sorted(chance.sample(range(len(text)), chance.randrange(1, 30))) for _ in range(500)]
    for cuts in cuttings:
        stream = redaction.stream()
        pieces = [stream.feed(text[a:b]) for a, b in itertools.pairwise([0, *cuts, len(text)])]
        assert "".join(pieces) + stream.end() == whole, cuts


def test_no_more_is_held_back_than_may_become_a_key(redaction: Redaction):
    stream = redaction.stream()
    assert stream.feed("plain text, k") == "plain text, "
    assert stream.feed("ind") == "kind"
    assert stream.feed(f"! {KEY}") == "! ", "the longer key may come"
    assert stream.feed("-lo") == ""
    assert stream.feed("st") == "[redacted: model key]-lost"
    assert stream.end() == ""


def test_nothing_known_holds_nothing_back():
    stream = Redaction().stream()
    assert stream.feed(KEY) == KEY
    assert Redaction().text(f"{KEY} sk-ant-{'x' * 40}") == f"{KEY} sk-ant-{'x' * 40}"


@pytest.mark.parametrize(
    "value",
    ["short", "development", "correct-horse battery", "/run/secrets/key-1", "~/keys/id", "20260101", "10.0.0.12:8080"],
)
def test_what_stands_in_texts_anyway_is_no_known_value(value: str):
    assert not telling(value)
    assert Redaction({value: "x"}).text(f"a {value} b") == f"a {value} b"


PEM = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEow+/=\n" * 20 + "-----END RSA PRIVATE KEY-----"
SHAPES = {
    f"sk-ant-api03-{'aB3_' * 8}": "anthropic key",
    f"sk-proj-{'aB3_' * 8}": "openai key",
    f"ghp_{'aB3d' * 9}": "github token",
    f"github_pat_{'aB3d' * 9}": "github token",
    "AKIAIOSFODNN7EXAMPLE": "aws key",
    "xoxb-1234567890-abcdef": "slack token",
    PEM: "private key",
    f"eyJ{'aB3d' * 4}.eyJ{'aB3d' * 4}.{'aB3d' * 4}": "web token",
}


@pytest.mark.parametrize(("key", "label"), SHAPES.items())
def test_the_shape_of_a_key_counts_where_it_is_asked_for(key: str, label: str):
    text = f"TOKEN={key}\n"
    assert Redaction().text(text) == text
    assert Redaction().text(text, shapes=True) == f"TOKEN={mark(label)}\n"
    assert key not in Redaction().text(json.dumps({"out": f"a\n{key}"}), shapes=True)


@pytest.mark.parametrize(
    "text", ["desk-antique-lamp", "sk-ant-", "ghp_short", "AKIAnotakey", "eyJ only", "task-" + "a" * 40, "xoxo-love"]
)
def test_what_only_looks_like_it_stays(text: str):
    assert Redaction().text(text, shapes=True) == text


@dataclass(frozen=True)
class Inner:
    said: str


@dataclass(frozen=True)
class Outer:
    inner: tuple[Inner, ...]
    other: object = None


def test_values_of_all_kinds_are_walked(redaction: Redaction):
    value = Outer((Inner("fine"), Inner(f"a {KEY}")), {"list": [KEY, 1, None], KEY: True})
    done = redaction.value(value)
    assert KEY not in repr(done)
    assert done.inner[0] is value.inner[0], "what holds none is the same object"
    whole = Outer((Inner("fine"),), {"a": [1, "b"]})
    assert redaction.value(whole) is whole


def test_a_seal_is_opened_by_who_knows_the_key(redaction: Redaction):
    text = f"A={KEY}\nB={ODD} \uf8ff apple \uf8ff\n"
    sealed = redaction.sealed(text)
    assert KEY not in sealed
    assert redaction.opened(sealed) == text
    assert Redaction({LONGER: "model key"}).opened(sealed) is None
    assert redaction.opened("\uf8ff apple \uf8ff") == "\uf8ff apple \uf8ff"


def test_only_marks_that_may_be_ours_are_marks(redaction: Redaction):
    held = {"a": ["[redacted: model key]", "[redacted: anthropic key] [redacted: somebody's]"]}
    assert redaction.marks(held) == {"[redacted: model key]", "[redacted: anthropic key]"}
