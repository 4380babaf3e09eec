"""What is kept of a long diff: both sides of its changes (C-2)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codelaw.context.shortening.compressor import compress
from codelaw.domain.edits import fragments
from codelaw.tools.changing.diffs import difference


def text(count: int, *changed: range, word: str = "line") -> str:
    """Lines with their numbers, those of `changed` in capitals."""
    numbers = {number for part in changed for number in part}
    return "".join(f"{word.upper() if number in numbers else word} {number}\n" for number in range(count))


def diff(*changed: range, count: int = 400, word: str = "line") -> str:
    return difference(text(count, word=word), text(count, *changed, word=word), "src/a.py").text


@pytest.mark.parametrize(
    "changed",
    [
        (range(300),),
        (range(100, 240),),
        (range(10, 80), range(300, 302)),
        (range(10, 40), range(100, 130), range(200, 230)),
        tuple(range(start, start + 3) for start in range(0, 390, 30)),
        tuple(range(start, start + 1) for start in range(0, 390, 26)),
    ],
    ids=["whole", "one", "long and short", "three", "thirteen", "fifteen"],
)
@pytest.mark.parametrize("tool", ["Edit", "MultiEdit", "Write"])
def test_the_history_has_a_fragment_of_both_sides_of_each_change_in_fifty_lines(tool: str, changed: tuple[range, ...]):
    data = {"path": "src/a.py", "applied": True, "changed_lines": [[1, 2]], "diff": diff(*changed)}
    kept = compress(tool, {"status": "success", "data": data}, "r")["data"]
    lines = kept["diff"].split("\n")
    assert len(lines) <= 50
    assert lines[:2] == ["--- a/src/a.py", "+++ b/src/a.py"]
    for part in changed:
        assert f"-line {part.start}" in lines
        assert f"+LINE {part.start}" in lines
    assert sum(line.startswith("@@ ") for line in lines) == len(changed)
    assert kept["diff_truncated"] is True
    assert kept["changed_lines"] == [[1, 2]]


def test_what_is_left_out_is_counted_and_a_short_side_stays_whole():
    kept, cut = fragments(diff(range(10, 80), range(300, 302)), 50, 8_000)
    lines = kept.split("\n")
    assert cut
    assert lines[-4:] == ["-line 300", "-line 301", "+LINE 300", "+LINE 301"]
    (removed, added) = [line for line in lines if line.startswith("…")]
    shown = sum(line.startswith("-line") for line in lines) - 2
    assert removed == added == f"… {70 - shown} lines left out …"


def test_changes_beyond_the_room_are_counted_at_the_end():
    kept, cut = fragments(diff(*(range(start, start + 1) for start in range(0, 400, 10))), 50, 8_000)
    lines = kept.split("\n")
    assert cut
    assert len(lines) == 48
    assert lines[-1] == "… 25 changes left out …"
    assert lines[-2] == "+LINE 140"


def test_what_fits_and_what_is_no_diff_stays_as_it_was():
    short = diff(range(3, 9))
    assert fragments(short, 50, 8_000) == (short, False)
    plain = text(60)
    assert fragments(plain, 50, 8_000) == ("\n".join(plain.split("\n")[:50]), True)
    assert fragments("", 0, 0) == ("", False)


def test_the_files_of_a_rename_share_the_room():
    files = [{"path": f"{name}.py", "replacements": 80, "diff": diff(range(20, 100))} for name in "abc"]
    kept = compress("Rename", {"status": "success", "data": {"symbol": "f", "files": files}}, "r")["data"]
    for file in kept["files"]:
        assert file["diff_truncated"] is True
        assert "-line 20" in file["diff"]
        assert "+LINE 20" in file["diff"]
    assert sum(len(file["diff"].split("\n")) for file in kept["files"]) <= 50


PARTS = st.lists(st.tuples(st.integers(0, 12), st.integers(1, 9), st.integers(0, 9)), max_size=30)


@given(PARTS, st.integers(0, 60), st.integers(0, 4_000))
def test_it_keeps_to_the_room_and_makes_up_nothing(parts: list[tuple[int, int, int]], lines: int, characters: int):
    old: list[str] = []
    new: list[str] = []
    for place, (same, gone, come) in enumerate(parts):
        rest = [f"same {place} {number}" for number in range(same)]
        old += [*rest, *(f"old {place} {number}" for number in range(gone))]
        new += [*rest, *(f"new {place} {number}" for number in range(come))]
    whole = difference("\n".join(old), "\n".join(new), "a.py").text
    kept, cut = fragments(whole, lines, characters)
    assert cut == (kept != whole)
    assert len(kept) <= characters
    if characters >= len(whole):
        shown = [line for line in kept.split("\n") if not line.startswith("…")]
        every = iter(whole.split("\n"))
        assert len(kept.split("\n")) <= max(1, lines)
        assert not kept or all(line in every for line in shown), "lines of the diff, in their order"
