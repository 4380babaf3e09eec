"""What hooks do to files: undone with the turn, told to the model, counted among its changes (X-7, E-2, F-5)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.agent.conftest import Bench
from tests.agent.test_hooks import hooked, said
from tests.loopback.script import VendorReply

FORMAT = "sed -i 's/ *= */ = /' a.py"
"""A formatter."""


async def edited(bench: Bench, *more: Any) -> Any:
    """A turn that reads `a.py` and edits it, then does more."""
    acts = [bench.act("Read", {"path": "a.py"})]
    acts += [bench.act("Edit", {"path": "a.py", "old_string": "x=1", "new_string": "x=2"}), *more]
    bench.vendor.reset([*acts, bench.finish("ok", times=0)])
    return await bench.turn("go")


async def test_a_formatter_after_an_edit_is_undone_with_it(bench: Bench):
    await hooked(bench, PostToolUse={"matcher": "Edit", "command": FORMAT})
    (bench.root / "a.py").write_bytes(b"x=1\ny=1\n")
    result = await edited(bench)
    assert (bench.root / "a.py").read_bytes() == b"x = 2\ny = 1\n"
    [both] = result.changes
    assert (both.path, both.kind, both.added, both.removed) == ("a.py", "modified", 2, 2)
    report = await bench.session.revert(result.chat_id, result.turn_id)
    assert (report.conflicts, len(report.reverted)) == ((), 1)
    assert (bench.root / "a.py").read_bytes() == b"x=1\ny=1\n"


async def test_the_model_sees_what_a_formatter_did_and_edits_on(bench: Bench):
    await hooked(bench, PostToolUse={"matcher": "Edit", "command": FORMAT})
    (bench.root / "a.py").write_bytes(b"x=1\ny=1\n")
    await edited(bench, bench.act("Edit", {"path": "a.py", "old_string": "x = 2", "new_string": "x = 3"}))
    assert (bench.root / "a.py").read_bytes() == b"x = 3\ny = 1\n"
    sent = said(bench)
    assert "+y = 1" in sent, "it is shown all of it"
    assert "`hook_diff` is what a hook made of files" in sent
    assert "has changed since it was read" not in sent
    assert "changed a.py since you read it" not in sent


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("seq 5000 > a.py", "too long to be shown"),
        ("printf 'y\\0y' > a.py", "not text"),
        ("printf sk-ant-api03-0123456789abcdef > a.py", "it holds a key"),
        ("rm a.py", "removed"),
    ],
)
async def test_what_cannot_be_shown_has_to_be_read_again(bench: Bench, command: str, why: str):
    key = {"apiKey": "sk-ant-api03-0123456789abcdef"}
    await bench.reopen(model=key, hooks={"PostToolUse": [{"matcher": "Edit", "command": command}]})
    (bench.root / "a.py").write_bytes(b"x=1\n")
    result = await edited(bench, bench.act("Write", {"path": "a.py", "content": "mine"}))
    sent = said(bench)
    assert "hook_changed" in sent, why
    assert "read it again before you rely on it" in sent
    assert "hook_diff" not in sent
    assert key["apiKey"] not in str(result.changes)
    content = (bench.root / "a.py").read_bytes() if (bench.root / "a.py").exists() else b""
    assert content == (b"mine" if command.startswith("rm") else content)
    if not command.startswith("rm"):
        assert content != b"mine", "an edit of what the model does not know is refused"
    await bench.session.revert(result.chat_id, result.turn_id)
    assert (bench.root / "a.py").read_bytes() == b"x=1\n"


async def test_a_hook_at_the_answer_is_undone_and_told_as_a_hook(bench: Bench):
    await hooked(bench, Stop=FORMAT)
    (bench.root / "a.py").write_bytes(b"x=1\n")
    result = await edited(bench)
    assert (bench.root / "a.py").read_bytes() == b"x = 2\n"
    assert [change.added for change in result.changes] == [1]
    await bench.turn("go on", result.chat_id)
    sent = said(bench)
    assert "A hook changed a.py since you read it." in sent
    assert "The user changed" not in sent
    await bench.session.revert(result.chat_id, result.turn_id)
    assert (bench.root / "a.py").read_bytes() == b"x=1\n"


@pytest.mark.parametrize("dialect", ["native"], indirect=True)
async def test_reads_side_by_side_keep_a_change_once(bench: Bench):
    await hooked(bench, PostToolUse={"matcher": "Read", "command": "echo more >> a.py"})
    names = ["a.py", "b.py", "c.py"]
    for name in names:
        (bench.root / name).write_bytes(b"x=1\n")
    calls = tuple({"name": "Read", "input": {"path": name}} for name in names)
    result = await bench.turn("go", replies=[VendorReply(text="look", calls=calls), bench.finish("ok", times=0)])
    assert (bench.root / "a.py").read_bytes() == b"x=1\n" + b"more\n" * 3
    report = await bench.session.revert(result.chat_id, result.turn_id)
    assert report.conflicts == ()
    assert (bench.root / "a.py").read_bytes() == b"x=1\n"


async def test_a_hook_before_a_call_is_undone_though_it_refuses_the_call(bench: Bench):
    await hooked(bench, PreToolUse={"matcher": "Edit", "command": "echo x=3 > a.py; echo no >&2; exit 2"})
    (bench.root / "a.py").write_bytes(b"x=1\n")
    result = await edited(bench)
    assert [change.path for change in result.changes] == ["a.py"]
    assert "+x=3" in said(bench)
    await bench.session.revert(result.chat_id, result.turn_id)
    assert (bench.root / "a.py").read_bytes() == b"x=1\n"
