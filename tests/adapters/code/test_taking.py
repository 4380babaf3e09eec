"""What an index makes of a survey, and of what it has while it is built (X-5)."""

from __future__ import annotations

from codelaw.adapters.code.kept import Row, taken
from codelaw.domain.files import Survey
from codelaw.ranking.code.digest import digested

DIGEST = digested("a.py", "def total():\n    return 1\n")


def row(mtime: float = 1.0) -> Row:
    return Row(mtime, 10, "hash", "", DIGEST)


def test_a_whole_survey_names_what_differs_newest_first_and_what_is_gone() -> None:
    survey = Survey({"old.py": 1.0, "same.py": 2.0, "new.py": 9.0, "young.py": -1.0}, frozenset(), whole=True)
    rows = {"same.py": row(2.0), "old.py": row(0.5), "young.py": row(-1.0), "lost.py": row()}
    owed, gone, note = taken(survey, rows, {"lost.py": 1.0}, 10, "said before")
    assert list(owed) == ["new.py", "old.py", "young.py"]
    assert (gone, note) == (["lost.py"], "")


def test_one_that_ended_early_takes_nothing_away() -> None:
    survey = Survey({"a.py": 1.0}, frozenset(), whole=True, stopped="stopped after 60 s")
    owed, gone, note = taken(survey, {"lost.py": row()}, {}, 10, "")
    assert (owed, gone, note) == ({"a.py": 1.0}, [], "stopped after 60 s")


def test_a_later_survey_adds_to_what_is_owed() -> None:
    survey = Survey({"a.py": 5.0, "b.py": 5.0}, frozenset({"c.py", "d.py", "never.py"}), whole=False)
    owed, gone, note = taken(survey, {"a.py": row(), "c.py": row()}, {"d.py": 1.0, "e.py": 2.0}, 10, "said before")
    assert owed == {"a.py": 5.0, "b.py": 5.0, "e.py": 2.0}
    assert (gone, note) == (["c.py"], "said before")


def test_there_are_never_more_files_than_an_index_holds() -> None:
    times = {f"{number}.py": float(number) for number in range(10)}
    owed, _, note = taken(Survey(times, frozenset(), whole=True), {}, {}, 4, "")
    assert list(owed) == ["9.py", "8.py", "7.py", "6.py"]
    assert note == "The workspace is larger than its index: 6 files are left out."
    rows = {path: row() for path in ("9.py", "8.py", "7.py")}
    changed = {"9.py": 11.0, "new.py": 12.0, "newer.py": 13.0}
    owed, _, note = taken(Survey(changed, frozenset(), whole=False), rows, {"6.py": 6.0}, 4, note)
    assert owed == {"6.py": 6.0, "9.py": 11.0}
    owed, *_ = taken(Survey(changed, frozenset({"8.py", "6.py"}), whole=False), rows, {"6.py": 6.0}, 4, note)
    assert owed == {"9.py": 11.0, "new.py": 12.0, "newer.py": 13.0}
