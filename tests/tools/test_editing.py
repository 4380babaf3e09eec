"""Edit, MultiEdit and Write (T-5, F-3, F-4)."""

from __future__ import annotations

import asyncio
import os
import stat
import threading
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codelaw.context.shortening.demotion import demoted
from codelaw.domain.checkpoints import Demotion
from codelaw.domain.messages import Call, Message, Metadata
from codelaw.tools.changing.matching import Replacement, replaced
from codelaw.tools.paths import located
from tests.fakes.desk import Desk


async def prepared(desk: Desk, text: str | bytes, name: str = "a.py") -> Desk:
    desk.put(name, text)
    await desk("Read", path=name)
    return desk


def code(result: Any) -> str:
    assert result.error is not None, result
    return result.error.code


async def test_an_edit_changes_and_tells(desk: Desk):
    await prepared(desk, "one\ntwo\nthree\n")
    result = await desk("Edit", path="a.py", old_string="two", new_string="2\n2b")
    assert (desk.root / "a.py").read_text() == "one\n2\n2b\nthree\n"
    assert result.status == "success"
    assert result.data == {
        "path": "a.py",
        "applied": True,
        "replacements": 1,
        "changed_lines": [[2, 3]],
        "diff": "--- a/a.py\n+++ b/a.py\n@@ -1,3 +1,4 @@\n one\n-two\n+2\n+2b\n three",
    }
    (change,) = result.changes
    assert (change.path, change.kind, change.added, change.removed) == ("a.py", "modified", 2, 1)
    assert change.uri == (desk.root / "a.py").as_uri()


@pytest.mark.parametrize(
    ("old", "says"),
    [
        ("four", "was not found"),
        ("  two", "nearest is line 2"),
        ("twoo", "nearest is line 2"),
        ("o", "found 2 times (lines 1, 2)"),
    ],
)
async def test_a_failed_match_says_what_to_do(desk: Desk, old: str, says: str):
    await prepared(desk, "one\ntwo\n")
    result = await desk("Edit", path="a.py", old_string=old, new_string="x")
    assert code(result) == "INVALID_PARAM"
    assert says in result.error.message
    assert (desk.root / "a.py").read_text() == "one\ntwo\n"
    every = await desk("Edit", path="a.py", old_string="o", new_string="0", replace_all=True)
    assert (every.data["replacements"], (desk.root / "a.py").read_text()) == (2, "0ne\ntw0\n")


@pytest.mark.parametrize("tool", ["Edit", "MultiEdit", "Write"])
async def test_changes_need_a_read(desk: Desk, tool: str):
    desk.put("a.py", "one\n")
    arguments = {
        "Edit": {"old_string": "one", "new_string": "1"},
        "MultiEdit": {"edits": [{"old_string": "one", "new_string": "1"}]},
        "Write": {"content": "1"},
    }[tool]
    result = await desk(tool, path="a.py", **arguments)
    assert code(result) == "CONFLICT"
    assert "read it first" in result.error.message
    await desk("Read", path="a.py")
    desk.put("a.py", "one and more\n")
    result = await desk(tool, path="a.py", **arguments)
    assert code(result) == "CONFLICT"
    assert "read it again" in result.error.message
    await desk("Read", path="a.py")
    assert (await desk(tool, path="a.py", **arguments)).status == "success"
    assert (await desk("Edit", path="a.py", old_string="1", new_string="2")).status == "success"


async def test_unsaved_text_in_the_editor_is_never_bypassed(desk: Desk):
    await prepared(desk, "one\n")
    desk.documents.open(desk.root / "a.py", "one typed\n")
    await desk("Read", path="a.py")
    for result in (
        await desk("Edit", path="a.py", old_string="one", new_string="1"),
        await desk("Write", path="a.py", content="1"),
    ):
        assert code(result) == "CONFLICT"
        assert "unsaved" in result.error.message
    assert (desk.root / "a.py").read_text() == "one\n"


async def test_a_change_at_the_last_moment_conflicts(desk: Desk):
    await prepared(desk, "one\n")
    place = await located(desk.workspace, "a.py")
    over = await desk.workspace.read(place)
    desk.put("a.py", "two\n")
    from codelaw.domain.errors import ToolFailure

    with pytest.raises(ToolFailure, match="changed meanwhile"):
        await desk.workspace.write(place, "x", over=over)
    (desk.root / "a.py").unlink()
    with pytest.raises(ToolFailure, match="gone"):
        await desk.workspace.write(place, "x", over=over)
    desk.put("a.py", "")
    with pytest.raises(ToolFailure, match="exists"):
        await desk.workspace.write(place, "x", over=None)
    assert [path.name for path in desk.root.iterdir()] == ["a.py"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"one\r\ntwo\r\n", b"one\r\n2\r\nb\r\n"),
        (b"one\ntwo\n", b"one\n2\nb\n"),
        (b"\xef\xbb\xbfone\ntwo", b"\xef\xbb\xbfone\n2\nb"),
        (b"caf\xe9\ntwo\n", b"caf\xe9\n2\nb\n"),
        (b"mixed\nline\r\nbreaks\r\ntwo\n", b"mixed\nline\r\nbreaks\r\n2\nb\n"),
        (b"two", b"2\nb"),
    ],
)
async def test_bytes_outside_the_change_stay(desk: Desk, before: bytes, after: bytes):
    await prepared(desk, before)
    result = await desk("Edit", path="a.py", old_string="two", new_string="2\nb")
    assert result.status == "success", result.error
    if before.startswith(b"mixed"):
        after = after.replace(b"2\nb", b"2\r\nb") if before.count(b"\r\n") * 2 > before.count(b"\n") else after
    assert (desk.root / "a.py").read_bytes() == after


async def test_undecodable_bytes_are_never_lost(desk: Desk):
    await prepared(desk, b"caf\xe9 two\n")
    result = await desk("Edit", path="a.py", old_string="two", new_string="2")
    assert code(result) == "BINARY_FILE"
    assert (desk.root / "a.py").read_bytes() == b"caf\xe9 two\n"


async def test_line_breaks_of_the_model_match_those_of_the_file(desk: Desk):
    await prepared(desk, "one\r\ntwo\r\nthree\r\n")
    result = await desk("Edit", path="a.py", old_string="one\ntwo", new_string="1\n2")
    assert result.status == "success"
    assert (desk.root / "a.py").read_bytes() == b"1\r\n2\r\nthree\r\n"
    assert "\r" not in result.data["diff"]
    await desk("Write", path="a.py", content="a\nb\n")
    assert (desk.root / "a.py").read_bytes() == b"a\r\nb\r\n"


async def test_permission_bits_and_symlinks_stay(desk: Desk):
    path = desk.put("real.sh", "one\n")
    path.chmod(0o751)
    (desk.root / "link.sh").symlink_to("real.sh")
    await desk("Read", path="link.sh")
    assert (await desk("Edit", path="link.sh", old_string="one", new_string="1")).status == "success"
    assert (desk.root / "link.sh").is_symlink()
    assert path.read_text() == "1\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o751


async def test_a_dry_run_changes_nothing(desk: Desk):
    await prepared(desk, "one\n")
    for result in (
        await desk("Edit", path="a.py", old_string="one", new_string="1", dry_run=True),
        await desk("MultiEdit", path="a.py", edits=[{"old_string": "one", "new_string": "1"}], dry_run=True),
        await desk("Write", path="a.py", content="1\n", dry_run=True),
        await desk("Write", path="new/b.py", content="1\n", dry_run=True),
    ):
        assert result.status == "partial"
        assert (result.data["applied"], result.data["dry_run"]) == (False, True)
        assert "+1" in result.data["diff"]
        assert result.changes == ()
    assert [path.name for path in desk.root.iterdir()] == ["a.py"]
    assert (desk.root / "a.py").read_text() == "one\n"


async def test_several_edits_all_see_the_original(desk: Desk):
    await prepared(desk, "a b c\n")
    swap = [{"old_string": "a", "new_string": "b"}, {"old_string": "b", "new_string": "a"}]
    result = await desk("MultiEdit", path="a.py", edits=swap)
    assert (desk.root / "a.py").read_text() == "b a c\n"
    assert (result.data["edits"], result.data["replacements"]) == (2, 2)


@pytest.mark.parametrize(
    ("second", "says"),
    [
        ({"old_string": "b c", "new_string": "x"}, "overlap"),
        ({"old_string": "none", "new_string": "x"}, "edits[1].old_string was not found"),
        ({"old_string": "c", "new_string": "c"}, "nothing to change"),
    ],
)
async def test_several_edits_are_all_or_nothing(desk: Desk, second: dict[str, str], says: str):
    await prepared(desk, "a b c\n")
    result = await desk("MultiEdit", path="a.py", edits=[{"old_string": "a b", "new_string": "x"}, second])
    assert code(result) == "INVALID_PARAM"
    assert says in result.error.message
    assert (desk.root / "a.py").read_text() == "a b c\n"


async def test_several_edits_are_mended_together_and_each_is_named(desk: Desk):
    await prepared(desk, "a = 1\n    b = 2\nc = 3\n")
    edits = [
        {"old_string": "    1\ta = 1", "new_string": "    1\ta = 10"},
        {"old_string": "c", "new_string": "d"},
        {"old_string": "\tb = 2\n", "new_string": "\tb = 20\n"},
    ]
    dry = await desk("MultiEdit", path="a.py", edits=edits, dry_run=True)
    assert (desk.root / "a.py").read_text() == "a = 1\n    b = 2\nc = 3\n"
    result = await desk("MultiEdit", path="a.py", edits=edits)
    assert (desk.root / "a.py").read_text() == "a = 10\n    b = 20\nd = 3\n"
    for reported in (dry, result):
        assert (reported.status, reported.data["mended"], reported.data["replacements"]) == ("partial", True, 3)
        assert "edits[0].old_string is not in the file as sent. It fits line 1 alone" in reported.text
        assert "edits[2].old_string is not in the file as sent. It fits line 2 alone" in reported.text
        assert "edits[1]" not in reported.text


async def test_write_creates_folders_and_tells(desk: Desk):
    result = await desk("Write", path="x/y/z.py", content="1\n2")
    assert (desk.root / "x/y/z.py").read_text() == "1\n2"
    assert (result.data["operation"], result.data["lines"]) == ("created", 2)
    assert result.data["diff"].startswith("--- /dev/null\n+++ b/x/y/z.py\n@@ -0,0 +1,2 @@\n+1\n+2")
    assert [change.kind for change in result.changes] == ["created"]
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE((desk.root / "x/y/z.py").stat().st_mode) == 0o666 & ~umask
    again = await desk("Write", path="x/y/z.py", content="1\n3\n")
    assert again.data["operation"] == "overwritten"


@pytest.mark.parametrize(
    "path",
    [
        ".git/config",
        ".GIT/hooks/x",
        "sub/.git/config",
        "link-to-git/config",
        "../out",
        "/tmp/out",
        "link-out/x",
        ".git",
    ],
)
async def test_what_must_not_be_written(desk: Desk, path: str):
    desk.put(".git/config", "secret")
    desk.put("sub/.git/config", "secret")
    outside = desk.root.parent / "outside"
    outside.mkdir()
    (desk.root / "link-to-git").symlink_to(".git")
    (desk.root / "link-out").symlink_to(outside)
    for dry_run in (True, False):
        assert code(await desk("Write", path=path, content="x", dry_run=dry_run)) == "ACCESS_DENIED"
    assert list(outside.iterdir()) == []
    assert (desk.root / ".git/config").read_text() == "secret"


async def test_a_folder_or_untitled_document_is_not_overwritten(desk: Desk):
    desk.put("folder/x", "")
    desk.documents.open("untitled:U", "text")
    assert code(await desk("Write", path="folder", content="x")) == "IS_DIRECTORY"
    assert code(await desk("Write", path="untitled:U", content="x")) == "ACCESS_DENIED"
    assert code(await desk("Write", path="folder/x/y", content="x")) == "EXECUTION_ERROR"


async def test_a_cancel_waits_for_the_write_and_knows_it(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    await prepared(desk, "one\n")
    begun, go_on = threading.Event(), threading.Event()

    def slow(_descriptor: int) -> None:
        begun.set()
        go_on.wait(150)

    monkeypatch.setattr("os.fsync", slow)
    task = asyncio.create_task(desk("Edit", path="a.py", old_string="one", new_string="1"))
    await asyncio.to_thread(begun.wait, 150)
    task.cancel()
    await asyncio.sleep(0.01)
    assert not task.done()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (desk.root / "a.py").read_text() == "1\n"
    assert await desk.environment.ledger.external_changes(desk.workspace) == []


TEXTS = st.text(st.sampled_from("ab\n\r "), max_size=40)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(before=TEXTS, after=TEXTS, old=st.text("xyz\n", min_size=1, max_size=8), new=st.text("pq\n", max_size=8))
def test_only_the_matched_text_changes(before: str, after: str, old: str, new: str):
    if "x" not in old or (before + old + after).replace("\r\n", "\n").count(old) != 1 or before.endswith("\r"):
        return
    done = replaced(before + old + after, [Replacement(old, new)])
    assert done.text.startswith(before)
    assert done.text.endswith(after)
    middle = done.text[len(before) : len(done.text) - len(after)]
    assert middle.replace("\r\n", "\n") == new


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from("abc"), max_size=15), st.lists(st.sampled_from("abc"), max_size=15))
def test_a_diff_applies(before: list[str], after: list[str]):
    from codelaw.tools.changing.diffs import difference

    old, new = "".join(f"{line}\n" for line in before), "".join(f"{line}\n" for line in after)
    diff = difference(old, new, "f")
    assert apply(diff.text, before) == after
    assert diff.added - diff.removed == len(after) - len(before)


def apply(diff: str, lines: list[str]) -> list[str]:
    import re

    out: list[str] = []
    at = 0
    for line in diff.split("\n")[2:]:
        if line.startswith("@@"):
            start, count = re.match(r"@@ -(\d+)(?:,(\d+))?", line).groups()
            begin = int(start) - (count != "0")
            out += lines[at:begin]
            at = begin
        elif line.startswith("+"):
            out.append(line[1:])
        else:
            assert lines[at] == line[1:]
            out += [line[1:]] if line.startswith(" ") else []
            at += 1
    return out + lines[at:]


async def test_what_the_history_has_shortened_is_not_written_into_a_file(desk: Desk) -> None:
    body = "a line that is long enough to be shortened\n" * 20
    call = Call("c1", "Write", {"path": "a.py", "content": body})
    said = Message("m1", "t1", "assistant", "writing", Metadata(calls=(call,)))
    [short] = demoted([said], {Demotion("m1", "arguments")})
    copied = short.metadata.calls[0].arguments["content"]
    assert copied != body
    refused = await desk("Write", path="b.py", content=copied)
    assert refused.error is not None
    assert refused.error.code == "INVALID_PARAM"
    assert not (desk.root / "b.py").exists()
    desk.put("c.py", f"# {copied}\nx = 1\n")
    await desk("Read", path="c.py")
    assert (await desk("Edit", path="c.py", old_string="x = 1", new_string="x = 2")).status == "success"
