"""What code tells of an archive: times, changed files, commands, failures (K-5)."""

from __future__ import annotations

from typing import Any

import pytest

from codelaw.context.tokens import estimate
from codelaw.domain.messages import Call, Message, Metadata
from codelaw.transcript.summaries.facts import ArchiveFacts, CommandRuns, FailedCall, FileChanges, facts
from codelaw.transcript.summaries.summary import fact_lines
from tests.transcript.calls import bash, edit, failed, ok, said, wrote


def test_start_and_cutoff_are_when_the_first_and_the_last_turn_began():
    messages = said(turn="a") + said(turn="b") + said(turn="c")
    found = facts(messages, {"a": 100.0, "b": 200.0, "c": 300.0, "later": 900.0})
    assert (found.started, found.ended) == (100.0, 300.0)


def test_a_changed_file_tells_all_that_happened_to_it():
    found = facts(said(wrote("n.py", "created"), edit("n.py"), edit("n.py"), wrote("o.py", "overwritten")), {})
    assert [(one.path, one.created, one.edits, one.overwritten) for one in found.files] == [
        ("n.py", True, 2, 0),
        ("o.py", False, 0, 1),
    ]
    lines = fact_lines(found, 500, estimate).files
    assert lines == ("`n.py`: created, edited ×2", "`o.py`: overwritten")


@pytest.mark.parametrize(
    ("tool", "envelope"),
    [
        ("Edit", failed("CONFLICT", "read it again", path="a.py")),
        ("Edit", {"status": "partial", "data": {"path": "a.py", "applied": False, "dry_run": True, "diff": "+x"}}),
        ("Write", {"status": "partial", "data": {"path": "a.py", "applied": False, "operation": "created"}}),
        ("Read", ok(path="a.py", content="1\tx")),
    ],
)
def test_a_file_that_was_not_changed_is_not_listed(tool: str, envelope: dict[str, Any]):
    assert facts(said((tool, {"path": "a.py", "old_string": "a", "new_string": "b"}, envelope)), {}).files == ()


def test_a_partial_result_that_was_applied_is_a_change():
    done = {"status": "partial", "data": {"path": "a.py", "applied": True, "diff": "+x"}}
    assert [one.path for one in facts(said(("Edit", {"path": "a.py"}, done)), {}).files] == ["a.py"]


def test_every_file_of_a_rename_is_listed():
    files = [{"path": f"f{n}.py", "diff": "+x"} for n in range(12)]
    done = ("Rename", {"path": "f0.py", "symbol": "old", "new_name": "new"}, ok(applied=True, files=files))
    tried = ("Rename", {"path": "g.py", "symbol": "a", "new_name": "b"}, ok(applied=False, dry_run=True, files=files))
    assert [(file.path, file.edits) for file in facts(said(done, tried), {}).files] == [
        (f"f{n}.py", 1) for n in range(12)
    ]


def test_files_that_a_command_changed_are_listed():
    done = ok(command="make fmt", exit_code=0, stdout="", changed=["src/a.py", "b.py"])
    found = facts(said(edit("b.py"), ("Bash", {"command": "make fmt"}, done)), {})
    assert fact_lines(found, 500, estimate).files == (
        "`src/a.py`: changed by a command",
        "`b.py`: edited, changed by a command",
    )


def test_a_command_is_told_once_with_how_its_runs_ended():
    found = facts(said(bash("go test", 1), bash("go test", 1), bash("go  test\n", 0), bash("ls", 0), bash("ls", 0)), {})
    assert [(one.text, one.runs, one.failed) for one in found.commands] == [
        ("go test", (("exit 1", 2), ("exit 0", 1)), True),
        ("ls", (("exit 0", 2),), False),
    ]
    assert fact_lines(found, 500, estimate).commands == ("`go test`: exit 1 ×2, then exit 0", "`ls`: exit 0 ×2")


@pytest.mark.parametrize(
    ("envelope", "ended"),
    [
        (failed("TIMEOUT", "Killed after 1 s", command="x", exit_code=-9, timed_out=True), "timed out"),
        (failed("EXECUTION_ERROR", "interrupted by the user before this call ended"), "interrupted"),
    ],
)
def test_a_command_that_did_not_end_by_itself_says_so(envelope: dict[str, Any], ended: str):
    (one,) = facts(said(("Bash", {"command": "sleep 9"}, envelope)), {}).commands
    assert (one.text, one.runs, one.failed) == ("sleep 9", ((ended, 1),), True)


def test_a_command_that_was_refused_never_ran_and_stands_among_the_failed_calls():
    refused = failed("PERMISSION_DENIED", "The user refused this call. The user says: not on main")
    found = facts(said(("Bash", {"command": "git push"}, refused)), {})
    assert found.commands == ()
    assert fact_lines(found, 300, estimate).failures == (
        "Bash `git push`: PERMISSION_DENIED: The user refused this call. The user says: not on main",
    )


def test_equal_failures_of_a_tool_are_counted():
    missing = failed("NOT_FOUND", "There is no x.py.")
    found = facts(said(("Read", {"path": "x.py"}, missing), ("Read", {"path": "x.py"}, missing)), {})
    assert found.failures == (FailedCall("Read", "x.py", "NOT_FOUND", "There is no x.py.", 2),)


def broken(content: Any, call_id: Any = "c") -> list[Message]:
    call = Call("c", "Edit", {"path": "a.py"})
    return [
        Message("a", "t", "assistant", "", Metadata(calls=(call,))),
        Message("r", "t", "tool", content, Metadata(call_id=call_id)),
    ]


@pytest.mark.parametrize(
    "content",
    [
        *["", "not json", "[1]", "null", "3", '{"status": 3, "data": []}', '{"data": {"path": 7}}', '{"error": "x"}'],
        *['{"status": "success", "data": {"applied": true, "path": ["a"]}}', "[" * 100_000, '{"data": {"changed": 1}}'],
    ],
)
def test_a_damaged_result_never_raises(content: str):
    found = facts(broken(content), {"t": 1.0})
    fact_lines(found, 100, estimate)
    assert found.commands == ()


# --- sizes


def many(files: int, failing: int, passing: int) -> ArchiveFacts:
    return ArchiveFacts(
        files=tuple(FileChanges(f"server/part{n % 7}/room/module_{n}.py", edits=1) for n in range(files)),
        commands=(
            *(CommandRuns(f"pytest tests/test_{n}.py -k slow", (("exit 1", 1),), failed=True) for n in range(failing)),
            *(CommandRuns(f"ls folder_{n}", (("exit 0", 1),), failed=False) for n in range(passing)),
        ),
        failures=tuple(
            FailedCall("Read", f"missing_{n}.py", "NOT_FOUND", "There is no such file. " * 5) for n in range(9)
        ),
    )


def whole(lines: tuple[str, ...]) -> str:
    return "".join(f"* {line}\n" for line in lines)


def test_what_must_be_said_may_pass_the_budget_up_to_a_bound():
    found = many(30, 15, 0)
    lines = fact_lines(found, 300, estimate, most=1000)
    assert all(f"room/module_{number}.py" in whole(lines.files) for number in range(30))
    assert all(f"test_{number}.py" in whole(lines.commands) for number in range(15))
    assert 300 < estimate(whole(lines.files) + whole(lines.commands)) <= 1000


def test_what_a_file_is_for_stands_behind_its_path():
    lines = fact_lines(many(2, 0, 0), 300, estimate, described={"server/part0/room/module_0.py": "the entrance"}).files
    assert lines[0] == "`server/part0/room/module_0.py`: edited; the entrance"
