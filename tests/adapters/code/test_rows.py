"""What an index knows of each file, and what has changed since it was ranked (X-5)."""

from __future__ import annotations

import gc
import random

from codelaw.adapters.code import kept
from codelaw.adapters.code.answering import FEW, framed_over
from codelaw.adapters.code.kept import MANY, IndexRows, Row, spare
from codelaw.ranking.code.digest import digested


def row(name: str = "", skipped: str = "") -> Row:
    return Row(1.0, 1, "h", skipped, None if skipped else digested("a.py", f"def {name}(): pass\n"))


def test_what_all_files_come_to_and_what_changed_is_kept() -> None:
    first, shown = row("one"), (("file:///c.py", 1), row(skipped="minified"))
    rows = IndexRows({"a.py": first, "b.png": row(skipped="binary")})
    assert (rows.files, rows.chunks, +rows.skipped, rows.changed) == (1, 1, {"binary": 1}, {})
    rows.put({"a.py": Row(2.0, 1, "h", "", first.digest)})
    assert (rows.edition, rows.changed) == (0, {}), "it was touched, and is the same"
    rows.put({"c.py": row("two"), "b.png": row("three")})
    assert (rows.files, rows.chunks, +rows.skipped, rows.changed.keys()) == (3, 3, {}, {"b.png", "c.py"})
    rows.open("c.py", shown)
    rows.put({"c.py": None})
    assert (rows.files, +rows.skipped, rows.edition) == (2, {"minified": 1}, 3), "the open document stands"
    rows.settle()
    rows.open("c.py", None)
    assert (sorted(rows.all()), rows.changed) == (["a.py", "b.png"], {})


def test_a_small_frame_of_what_has_changed_ranks_as_all_rows_do() -> None:
    chance = random.Random(3)
    rows = IndexRows({f"f{number:02}.py": row(f"name_{number}") for number in range(40)})
    whole = framed_over({}, rows.all(), None)
    for number in range(60):
        path = f"f{chance.randrange(45):02}.py"
        rows.put({path: None if chance.random() < 0.3 and path in rows.disk else row(f"other_{number}")})
        frame = framed_over(rows.changed, rows.all(), whole)
        shown = {one for one in (*whole.paths, *frame.paths) if one in frame.paths or not frame.covers(one)}
        if frame.below is None:
            assert len(rows.changed) > FEW
            assert frame.paths == tuple(sorted(rows.all()))
            break
        assert (frame.below, shown) == (whole, rows.all().keys())
    else:
        raise AssertionError("it never became too many")


def test_what_many_files_come_to_is_kept_from_the_collector_at_each_further_many() -> None:
    begun = kept._spared[0] + MANY
    frozen: list[bool] = []
    for files in (begun - 1, begun, begun + MANY - 1, begun + MANY):
        made: list[object] = [object()]
        spare(files)
        frozen.append(not any(one is made for one in gc.get_objects()))
    assert frozen == [False, True, False, True]
    gc.unfreeze()
