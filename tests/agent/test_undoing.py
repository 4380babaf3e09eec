"""What undoing makes of one file: decided from texts alone (E-2)."""

from __future__ import annotations

import random

import pytest

from codelaw.agent.effects.undoing import CannotUndo, Step, undone
from tests.tools.test_merging import edited


@pytest.mark.parametrize(
    ("steps", "current", "wanted"),
    [
        ([Step(None, "a")], "a", None),
        ([Step(None, "a"), Step("a", "b")], "b", None),
        ([Step(None, "a")], None, None),
        ([Step("", None)], None, ""),
        ([Step("a", None)], "a", "a"),
        ([Step("a", None), Step(None, "b")], "b", "a"),
        ([Step("a", "b"), Step("b", None)], None, "a"),
        ([Step(None, "a"), Step("a", None)], None, None),
        ([Step(None, "a"), Step("a", None)], "mine", "mine"),
        ([Step("a", "b"), Step("b", "a")], "mine", "mine"),
        ([Step("a\n", "b\n")], "a\n", "a\n"),
        ([Step("a\nb\nc", "A\nb\nc")], "A\nb\nC", "a\nb\nC"),
        ([Step("a\nb\nc", "A\nb\nc"), Step("A\nb\nC", "A\nb\nCC")], "A\nb\nCC", "a\nb\nC"),
        ([Step("a", "b"), Step("b", "c", sure=False)], "b", "a"),
        ([Step("a", "b"), Step("b", "c", sure=False)], "c", "a"),
        ([Step("a", "b", sure=False), Step("a", "c")], "c", "a"),
        ([Step("a", "b", sure=False), Step("b", "c")], "c", "a"),
        ([Step(None, "a", sure=False)], None, None),
        ([Step(None, "a", sure=False)], "a", None),
        ([Step("a\n", "b\n", sure=False)], "a\r\n", "a\r\n"),
        ([], "a", "a"),
    ],
)
def test_a_file_is_as_if_the_steps_had_not_been(steps, current, wanted):
    assert undone(steps, current) == wanted
    again = undone(steps, wanted)
    assert again == wanted, "once more is no harm"


@pytest.mark.parametrize(
    ("steps", "current", "why", "lines"),
    [
        ([Step(None, "a")], "ab", "changed since the turn created it", True),
        ([Step("a", None)], "b", "made anew", True),
        ([Step("a", "b")], None, "removed since", True),
        ([Step("a\nb", "A\nb")], "AA\nb", "line 1", True),
        ([Step("a\nb", "A\nb")], "A\nB", "not text", False),
        ([Step(None, "a"), Step("a\nmine", "A\nmine")], "A\nmine", "changed since the turn created it", True),
    ],
)
def test_what_was_done_since_is_in_the_way(steps, current, why, lines):
    with pytest.raises(CannotUndo, match=why):
        undone(steps, current, lines=lines)


@pytest.mark.parametrize("seed", range(400))
def test_a_turn_and_a_person_by_turns(seed):
    """Whatever both have done one after the other: no line of the agent's stays, none of the person's goes."""
    chance = random.Random(seed)
    text = [f"O{number}" for number in range(chance.choice([1, 8, 40, 200]))]
    steps: list[Step] = []
    for number in range(chance.randint(1, 4)):
        made = edited(chance, text, f"A{number}.", chance.randint(1, 2))
        steps.append(Step("\n".join(text), "\n".join(made)))
        text = made
        if chance.random() < 0.6:
            text = edited(chance, text, f"P{number}.", 1)
    taken = {line for step in steps for line in (step.before or "").split("\n")}
    taken -= set((steps[-1].after or "").split("\n"))
    try:
        result = undone(steps, "\n".join(text))
    except CannotUndo:
        return
    assert result is not None
    lines = result.split("\n")
    assert not [line for line in lines if line.startswith("A")]
    for owner in ("P", "O"):
        kept = [line for line in text if line.startswith(owner)]
        assert [line for line in lines if line in set(kept)] == kept
    allowed = {line for step in steps for line in (step.before or "").split("\n")} | set(text) | {""}
    assert set(lines) <= {line for line in allowed if not line.startswith("A")}
    if len(steps) == 1:
        assert {line for line in taken if line.startswith("O")} <= set(lines), "what the agent took is back"
