"""What real commands did is undone, as far as it is known (E-2)."""

from __future__ import annotations

import errno

import pytest

from codelaw.adapters.crash_journal.file_snapshots import FileSnapshots
from tests.agent.conftest import Bench
from tests.agent.test_control import until
from tests.agent.test_revert import edit, played, uris

SHELL = """\
set -e
printf 'x\\0y' > data.bin
sed -i s/two/TWO/ text.txt
rm -r old
mkdir made && echo new > made/new.txt
mv moved.txt there.txt
echo more >> read.txt
"""


async def test_a_turn_of_edits_and_commands_is_undone_after_a_restart(bench: Bench):
    before = {
        "data.bin": b"a\0b\xff", "text.txt": b"one\r\ntwo\r\n", "old/a": b"\xef\xbb\xbfa", "old/deep/.b": b"",
        "moved.txt": "😀\n".encode(), "read.txt": b"1\n2\n3\n4\n5\n", "other.txt": b"left\n",
    }  # fmt: skip
    for name, content in before.items():
        (bench.root / name).parent.mkdir(parents=True, exist_ok=True)
        (bench.root / name).write_bytes(content)
    (bench.root / "old/a").chmod(0o711)
    (bench.root / "go.sh").write_text(SHELL)
    (bench.root / "go.sh").chmod(0o755)
    before["go.sh"] = SHELL.encode()
    acts = [*edit("read.txt", "1\n", "one\n"), ("Bash", {"command": SHELL}), *edit("read.txt", "5\n", "five\n")]
    chat, turn = await played(bench, *acts)
    assert (bench.root / "read.txt").read_bytes() == b"one\n2\n3\n4\nfive\nmore\n"
    (bench.root / "text.txt").write_bytes(b"zero\r\n\r\none\r\nTWO\r\n")
    await bench.reopen()
    report = await bench.session.revert(chat, turn)
    assert report.conflicts == ()
    changed = {"data.bin", "text.txt", "old/a", "old/deep/.b", "moved.txt", "there.txt", "read.txt", "made/new.txt"}
    assert set(report.reverted) == uris(bench, *changed)
    after = {
        path.relative_to(bench.root).as_posix(): path.read_bytes() for path in bench.root.rglob("*") if path.is_file()
    }
    assert after == {**before, "text.txt": b"zero\r\n\r\none\r\ntwo\r\n"}
    assert (bench.root / "old/a").stat().st_mode & 0o777 == 0o711


async def test_a_command_that_fails_or_is_stopped_is_kept_too(bench: Bench):
    await bench.reopen(permissions={"default": "ask", "allow": ["Bash(sleep:*)", "Bash(echo:*)"]})
    for name in ("a.txt", "b.txt", "c.txt"):
        (bench.root / name).write_text("old\n")
    acts = [("Bash", {"command": "echo new > a.txt; false"})]
    acts += [("Bash", {"command": "echo new > b.txt; sleep 30", "timeout_ms": 300})]
    # On a busy machine a third of a second is over before it begins.
    acts += [("Bash", {"command": "grep -q new b.txt || (echo new > b.txt; sleep 60)", "timeout_ms": 20_000})]
    chat, first = await played(bench, *acts)
    bench.vendor.reset([bench.act("Bash", {"command": "echo new > c.txt; sleep 30"})])
    running = await bench.session.send(chat, "go")
    await until(lambda: (bench.root / "c.txt").read_text() == "new\n")
    await bench.session.cancel(chat)
    await running.result()
    assert set((await bench.session.revert(chat, first)).reverted) == uris(bench, "a.txt", "b.txt")
    assert (await bench.session.revert(chat, running.turn_id)).reverted == ((bench.root / "c.txt").as_uri(),)
    assert {path.read_text() for path in bench.root.iterdir()} == {"old\n"}


async def test_a_command_that_could_not_be_undone_does_not_run(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    def full(*_arguments: object) -> str:
        raise OSError(errno.ENOSPC, "No space left on device")

    (bench.root / "a.txt").write_text("old\n")
    monkeypatch.setattr(FileSnapshots, "hold", full)
    chat, turn = await played(bench, ("Bash", {"command": "echo new > a.txt"}))
    assert (bench.root / "a.txt").read_text() == "old\n"
    [notice] = [one for one in bench.kinds("notice") if one.code == "undo_unavailable"]
    assert "No space left on device" in notice.message
    monkeypatch.undo()
    chat, turn = await played(bench, ("Bash", {"command": "echo new > a.txt"}))
    assert (await bench.session.revert(chat, turn)).conflicts == ()
    assert (bench.root / "a.txt").read_text() == "old\n"
