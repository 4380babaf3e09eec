"""From what is kept for the undo to what people look at (E-1)."""

from __future__ import annotations

from dataclasses import replace

from codelaw.agent.effects.undoing import MOST_MOVED, moves, of_turns, renamed, reviewed
from codelaw.domain.edits import BINARY, DAMAGED, KeptChange
from codelaw.domain.safety.redaction import Redaction

KEY = "sk-ant-0123456789abcdefghij"


def change(number: int, before: str | None, after: str | None, path: str = "a.py", turn: str = "t1") -> KeptChange:
    return KeptChange(number, turn, "call", path, f"file:///w/{path}", before, after, state="done")


def test_each_turn_counts_once_for_a_file_and_in_order():
    found = of_turns(
        [
            change(1, "", ""), change(2, None, "", "new.py"), change(3, "", ""), change(4, "", None, "gone.py"),
            change(5, "", None, turn="t2"), change(6, None, "", "brief.py"), change(7, "", None, "brief.py"),
        ]
    )  # fmt: skip
    assert [(one.turn_id, one.path, one.kind, one.number) for one in found] == [
        ("t1", "new.py", "created", 2),
        ("t1", "a.py", "modified", 3),
        ("t1", "gone.py", "deleted", 4),
        ("t2", "a.py", "deleted", 5),
    ]
    assert of_turns([]) == []


def test_what_is_no_text_or_damaged_is_none():
    found = of_turns([replace(change(1, "", ""), encoding=BINARY), replace(change(2, "", "", "b"), encoding=DAMAGED)])
    assert [one.is_text for one in found] == [False, False]


def test_a_file_that_came_back_elsewhere_in_the_same_turn_was_renamed():
    kept = {
        one.number: one
        for one in [
            change(1, "same", None, "old.py"), change(2, None, "same", "new.py"), change(3, None, "same", "copy.py"),
            change(4, "", None, "empty.py"), change(5, None, "", "none.py"), change(6, None, "same", "later.py", "t2"),
        ]
    }  # fmt: skip
    found = of_turns(list(kept.values()))
    assert moves(found) == [1, 2, 3, 4, 5]
    assert {one.path: one.renamed_from for one in renamed(found, kept) if one.renamed_from} == {"new.py": "old.py"}


def test_of_very_many_files_nobody_looks_whether_they_were_renamed():
    many = [change(number, None, "", f"{number}.py") for number in range(1, MOST_MOVED + 2)]
    assert moves(of_turns([*many, change(999, "", None, "gone.py")])) == []


def test_a_file_is_shown_without_the_changes_and_with_what_others_did_in_between():
    lines = [f"line {number}\n" for number in range(12)]

    def text(**lines_at: str) -> str:
        return "".join(lines_at.get(f"at{place}", line) for place, line in enumerate(lines))

    file = reviewed(
        [
            change(3, text(), text(at1="ours\n")),
            change(5, text(at1="ours\n", at8="theirs\n"), text(at1="ours\n", at8="theirs\n", at5="too\n")),
        ],
        Redaction(),
    )
    assert (file.before, file.after) == (text(at8="theirs\n"), text(at1="ours\n", at8="theirs\n", at5="too\n"))
    assert (file.number, file.is_text, file.redacted) == (5, True, False)


def test_a_file_that_was_made_or_removed_has_one_text():
    assert reviewed([change(1, None, "a\n")], Redaction()).before is None
    assert reviewed([change(1, "a\n", None)], Redaction()).after is None
    assert reviewed([change(1, "", "a\n")], Redaction()).before == ""


def test_a_key_is_not_shown_and_that_is_told():
    file = reviewed([change(1, f"x = '{KEY}'\n", "x = 1\n")], Redaction({KEY: "ANTHROPIC_API_KEY"}))
    assert file.redacted
    assert KEY not in (file.before or "")
