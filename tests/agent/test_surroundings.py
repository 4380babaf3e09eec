"""What is new around the past stands at the end, and L1 and L2 as they were sent (L-3, L-6)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from codelaw.agent.dialects.native import Native
from codelaw.agent.inputs.surroundings import RECENT, Surroundings, as_sent, behind, surroundings
from codelaw.agent.inputs.turn_context import HistoryState, TurnInputs
from codelaw.context.builder import History
from codelaw.context.sections import text_section
from codelaw.domain.messages import Fragment, Message
from codelaw.transcript.transcript import Transcript
from tests.agent.planning import inputs_of

QUESTION = Message("ask", "t", "user", "What now?")
TODO = Fragment("todo", "one is left")


def inputs(law: str = "", mode: str = "MODE", *, telling: bool = True, **more: Any) -> TurnInputs:
    made = replace(inputs_of(100_000), dialect=Native(system_messages=telling), **more)
    system = (text_section("L1", "mode", mode), text_section("L1", "skills", "SKILLS"))
    return replace(made, system=system, law=[text_section("L2", "law", law)] if law else [])


def state(transcript: Transcript | None = None) -> HistoryState:
    return HistoryState(transcript or Transcript(), History.of(()))


def law_of(made: Surroundings) -> tuple[str, list[str]]:
    """The law as it is sent, and the names of what is said of it."""
    said = [*made.gathered.beside, *made.behind]
    return "".join(one.content for one in made.gathered.law), [one.name for one in said]


def kept(law: str) -> Transcript:
    """What a chat keeps whose first request had that law."""
    return Transcript(asides=as_sent(inputs(law), Transcript())[1])


def test_a_changed_law_is_said_and_the_first_one_stays() -> None:
    first = surroundings(inputs("ONE"), state(), QUESTION, (), ())
    assert law_of(first) == ("ONE", [])
    transcript = Transcript(asides=first.head)
    second = surroundings(inputs("TWO"), state(transcript), QUESTION, (), ())
    assert law_of(second) == ("ONE", ["law"])
    assert second.head == ()
    beside = second.gathered.beside
    assert "TWO" in beside[0].text
    again = surroundings(inputs("TWO"), state(transcript), QUESTION, (), (), beside=beside)
    assert again.gathered.beside == beside, "said once"
    back = surroundings(inputs("ONE"), state(transcript), QUESTION, (QUESTION,), (), beside=beside)
    assert [one.name for one in back.behind] == ["law"], "what was said before does not count any more"


@pytest.mark.parametrize(
    "now",
    [inputs("TWO", mode="OTHER"), inputs("TWO", telling=False), inputs("TWO", caches=False)],
    ids=["another mode", "no system messages", "no cache"],
)
def test_they_begin_anew_where_the_same_bytes_save_nothing(now: TurnInputs) -> None:
    assert law_of(surroundings(now, state(kept("ONE")), QUESTION, (), ())) == ("TWO", [])


def test_where_the_folder_is_not_trusted_no_earlier_law_stands() -> None:
    now = inputs()
    restricted = replace(now, restricted=True)
    assert law_of(surroundings(restricted, state(kept("ONE")), QUESTION, (), ())) == ("", [])


def test_a_reminder_is_said_when_it_is_new_or_long_ago() -> None:
    now = inputs()
    said = [*behind([QUESTION], (TODO,))]
    others = [QUESTION] * RECENT
    assert surroundings(now, state(), QUESTION, (QUESTION,), [TODO]).behind == (TODO,)
    assert surroundings(now, state(), QUESTION, said, [TODO]).behind == ()
    assert surroundings(now, state(), QUESTION, [*said, *others[1:]], [TODO]).behind == ()
    assert surroundings(now, state(), QUESTION, [*said, *others], [TODO]).behind == (TODO,)
    changed = replace(TODO, text="none is left")
    assert surroundings(now, state(), QUESTION, said, [changed]).behind == (changed,)
