"""What an index knows of each file, and what has changed since it was ranked (X-5)."""

from __future__ import annotations

import random

from codelaw.adapters.code.answering import FEW, are_few, framed_few, framed_over
from codelaw.adapters.code.kept import Row
from codelaw.adapters.code.rows import IndexRows, RowCounts
from codelaw.ranking.code.digest import digested


def row(name: str = "", skipped: str = "") -> Row:
    return Row(1.0, 1, "h", skipped, None if skipped else digested("a.py", f"def {name}(): pass\n"))


def test_what_all_files_come_to_is_kept_as_they_change() -> None:
    rows = IndexRows({"a.py": row("one"), "b.png": row(skipped="binary")})
    assert rows.counted == RowCounts(1, 1, (("binary", 1),))
    rows.put({"c.py": row("two"), "b.png": row("three")})
    assert rows.counted == RowCounts(3, 3, ())
    rows.open("c.py", ("file:///c.py", 1), row(skipped="minified"))
    assert rows.counted == RowCounts(2, 2, (("minified", 1),))
    rows.drop(["c.py"])
    assert rows.counted == RowCounts(2, 2, (("minified", 1),)), "the open document stands"
    rows.close("c.py")
    assert rows.counted == RowCounts(2, 2, ())
    assert sorted(rows.all()) == ["a.py", "b.png"]


def test_only_what_is_ranked_otherwise_counts_as_changed() -> None:
    first, other = row("one"), row("two")
    rows = IndexRows({"a.py": first})
    assert (rows.edition, rows.changed) == (0, {})
    rows.put({"a.py": Row(2.0, 1, "h", "", first.digest)})
    assert (rows.edition, rows.changed) == (0, {}), "it was touched, and is the same"
    rows.open("a.py", ("file:///a.py", 1), other)
    rows.put({"a.py": row("behind the document")})
    assert rows.edition == 1
    assert rows.changed == {"a.py": other.digest}
    rows.close("a.py")
    rows.drop(["a.py"])
    assert rows.edition == 3
    assert rows.changed == {"a.py": None}
    rows.settle()
    assert (rows.edition, rows.changed) == (3, {})


def test_a_small_frame_of_what_has_changed_is_that_of_all_rows() -> None:
    chance = random.Random(3)
    rows = IndexRows({f"f{number:02}.py": row(f"name_{number}") for number in range(40)})
    whole = framed_over(rows.all(), None)
    for number in range(30):
        path = f"f{chance.randrange(45):02}.py"
        if chance.random() < 0.3 and path in rows.disk:
            rows.drop([path])
        else:
            rows.put({path: row(f"other_{number}")})
        if not are_few(len(rows.changed), whole):
            assert len(rows.changed) == FEW + 1
            break
        few, over = framed_few(rows.changed, whole), framed_over(rows.all(), whole)
        assert (few.paths, few.digests, few.gone) == (over.paths, over.digests, over.gone)
        assert few.below is whole
        assert all(few.covers(path) == over.covers(path) for path in (*whole.paths, *few.paths, "f99.py"))
    else:
        raise AssertionError("it never became too many")
