"""Undoing by a merge of lines: nothing of the person's is lost, nothing of what is undone stays, or it is refused (E-2)."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from codelaw.tools.changing.diffs import Clash, merged


@pytest.mark.parametrize(
    ("original", "agent", "person", "wanted"),
    [
        ("a\nb\nc\nd\n", "a\nB\nc\nd\n", "a\nB\nc\nD\n", "a\nb\nc\nD\n"),
        ("a\nb\nc\nd\n", "a\nc\nd\n", "a\nc\nd\ne\n", "a\nb\nc\nd\ne\n"),
        ("a\nb\nc\n", "a\nx\ny\nb\nc\n", "a\nx\ny\nb\nc\nd\n", "a\nb\nc\nd\n"),
        ("a\nb\nc\n", "A\nb\nC\n", "A\nb\nC\n", "a\nb\nc\n"),
        ("a\nb\nc\n", "A\nb\nC\n", "a\nb\nC\n", "a\nb\nc\n"),
        ("a\nb\nc\nd\n", "a\nb\nC\nd\n", "a\nb2\nC\nd\n", "a\nb2\nc\nd\n"),
        ("", "a\n", "a\n", ""),
        ("a", "a\nb", "p\na\nb", "p\na"),
        ("a\n", "a", "p\n\na", "p\n\na\n"),
        (
            "😀\n\U0001f468\u200d\U0001f469\nx\n",
            "😀\ny\nx\n",
            "😀\ny\nx\n😀😀\n",
            "😀\n\U0001f468\u200d\U0001f469\nx\n😀😀\n",
        ),
        ("a\r\nb\r\nc\r\n", "a\r\nB\r\nc\r\n", "a\nB\nc\nd\n", "a\nb\nc\nd\n"),
        ("a\nb\nc\n", "a\nB\nc\n", "a\r\nB\r\nc\r\nd\r\n", "a\r\nb\r\nc\r\nd\r\n"),
        ("a\nb\nc\n", "a\r\nb\r\nc\r\n", "a\r\nb\r\nc\r\n", "a\nb\nc\n"),
        ("a\rb\rc", "a\rB\rc", "a\rB\rc", "a\rb\rc"),
        ("\udc80\nb\nc\n", "\udc80\nB\nc\n", "\udc80\nB\nc\n\udcff\n", "\udc80\nb\nc\n\udcff\n"),
    ],
)
def test_what_the_agent_did_is_undone_and_what_the_person_did_stays(original, agent, person, wanted):
    assert merged(agent, original, person) == wanted


@pytest.mark.parametrize(
    ("original", "agent", "person", "line"),
    [
        ("a\nb\nc\n", "a\nB\nc\n", "a\nBB\nc\n", 2),
        ("a\nb\nc\n", "a\nx\ny\nb\nc\n", "a\nx\nz\ny\nb\nc\n", 3),
        ("a\nb\nc\n", "a\nc\n", "a\nnew\nc\n", 2),
        ("a\nb\nc\n", "a\nx\nb\nc\n", "a\nx\nmine\nb\nc\n", 3),
        ("a\nb\nc\n", "a\nB\nc\n", "q\na\nc\n", 3),
        ("a\n", "a\nb\n", "a\nb\nc\n", 3),
        ("}\n}\nz\n", "}\n}\n}\nz\n", "}\nz\n", 2),
        ("a\nb\nc\n", "a\r\nb\r\nc\r\n", "a\r\nb\r\nC\r\n", 3),
    ],
)
def test_what_touches_is_refused_and_the_place_is_named(original, agent, person, line):
    with pytest.raises(Clash) as caught:
        merged(agent, original, person)
    assert caught.value.line == line


def test_removing_one_of_equal_lines_that_both_removed_is_refused():
    """Whose line the person removed cannot be known, so neither is taken away twice."""
    base = "}\n" * 5
    with pytest.raises(Clash):
        merged(base + "z\n", "}\n" * 4 + "z\n", "}\n" * 3 + "z\n")


def edited(seed: random.Random, text: list[str], who: str, times: int) -> list[str]:
    """Lines of one's own put in, lines taken out and replaced, at random."""
    lines = list(text)
    for number in range(times):
        place = seed.randrange(len(lines) + 1)
        count = seed.choice([0, 0, 1, 1, 2, 5])
        new = [f"{who}{number}.{part} {seed.choice('xyz')}" for part in range(seed.choice([0, 1, 1, 2, 4]))]
        lines[place : place + count] = new
    return lines


@pytest.mark.parametrize("seed", range(400))
def test_every_line_is_the_persons_or_the_originals_or_nothing_is_changed(seed):
    chance = random.Random(seed)
    size = chance.choice([0, 1, 3, 12, 60, 400])
    # Some lines are alike, as braces and blank lines are; those of agent and person are told by their beginning.
    original = [chance.choice(["", "}", "  pass"]) if chance.random() < 0.2 else f"O{n}" for n in range(size)]
    agent = edited(chance, original, "A", chance.randint(1, 4))
    person = edited(chance, agent, "P", chance.randint(0, 4))
    style = chance.choice(["\n", "\r\n"])
    last = chance.choice(["", style])
    texts = [style.join(lines) + last for lines in (original, agent, person)]
    theirs = texts[2] if chance.random() < 0.8 else texts[2].replace("\r\n", "\n")
    try:
        result = merged(texts[1], texts[0], theirs)
    except Clash:
        return
    if style == "\r\n" and "\r" not in theirs and "\n" in theirs:
        assert "\r" not in result, "the line breaks are those of the file as it is"
    got = result.replace("\r\n", "\n").split("\n")
    now = theirs.replace("\r\n", "\n").split("\n")
    assert not [line for line in got if line.startswith("A")], "undone"
    for owner in ("P", "O"):
        kept = [line for line in now if line.startswith(owner)]
        assert [line for line in got if line in set(kept)] == kept, "all of the person's, in the person's order"
    back = {line for line in got if line.startswith("O")} - set(now)
    assert back == {line for line in original if line.startswith("O")} - set(agent), "all that the agent had removed"
    assert set(got) <= {*now, *original, ""}
    alike = {line for line in original if not line.startswith("O")}
    counts = [Counter(line for line in lines if line in alike) for lines in (original, agent, now, got)]
    for line in alike - {""}:
        was, base, here, came = (count[line] for count in counts)
        assert came == here + was - base, "lines that are alike are counted"


@pytest.mark.parametrize("seed", range(60))
def test_changes_far_apart_never_clash(seed):
    chance = random.Random(seed)
    original = [f"O{n}" for n in range(200)]
    places = chance.sample(range(5, 195, 10), 8)
    agent, person = list(original), list(original)
    wanted = list(original)
    for number, place in enumerate(places):
        agent[place] = person[place] = f"A{number}"
        if number % 2:
            person[place + 4] = wanted[place + 4] = f"P{number}"
    assert merged("\n".join(agent), "\n".join(original), "\n".join(person)) == "\n".join(wanted)


def test_a_large_file_of_which_everything_changed_is_undone_beside_what_was_typed():
    """Typed at both ends; where no line stands once, so far apart, nothing is taken for unchanged between them."""
    one = "\n".join(f"line {number}" for number in range(100_000))
    other = "\n".join(f"other {number}" for number in range(100_000))
    ours, theirs = f"first\nsecond\n{one}\nlast", f"typed\nfirst\nsecond\n{other}\nlast\ntyped"
    assert merged(f"first\nsecond\n{other}\nlast", ours, theirs) == f"typed\n{ours}\ntyped"
    blank = "\n" * 100_000
    with pytest.raises(Clash):
        merged(f"{blank}first\n{blank}first", f"{blank}1\n{blank}first", f"typed\n{blank}first\n{blank}first\ntyped")
