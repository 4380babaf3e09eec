"""Names of arguments that models get wrong (T-11)."""

from __future__ import annotations

from typing import Any

import pytest

from codelaw.tools.naming import named
from codelaw.tools.toolbox import SERVED, default_toolbox

EVERY = default_toolbox(services=SERVED, code=True, memory=True)


def read(tool: str, **given: Any) -> Any:
    one = EVERY.get(tool)
    assert one is not None
    return named(one.arguments, given)


@pytest.mark.parametrize(
    ("tool", "given", "meant"),
    [
        ("Read", {"file_path": "a.py", "limit": 3}, {"path": "a.py", "limit": 3}),
        ("Read", {"filePath": "a.py", "startLine": 3}, {"path": "a.py", "start_line": 3}),
        (
            "Edit",
            {"filename": "a", "old_str": "x", "new_str": "y"},
            {"path": "a", "old_string": "x", "new_string": "y"},
        ),
        ("Edit", {"path": "a", "oldText": "x", "newText": "y"}, {"path": "a", "old_string": "x", "new_string": "y"}),
        ("Edit", {"path": "a", "search": "x", "replace": "y"}, {"path": "a", "old_string": "x", "new_string": "y"}),
        (
            "Edit",
            {"path": "a", "old-string": "x", "New_String": "y"},
            {"path": "a", "old_string": "x", "new_string": "y"},
        ),
        (
            "Grep",
            {"query": "x", "include": "*.py", "directory": "src"},
            {"pattern": "x", "glob": "*.py", "path": "src"},
        ),
        ("Glob", {"glob": "*.py"}, {"pattern": "*.py"}),
        ("Bash", {"cmd": "ls"}, {"command": "ls"}),
        ("Write", {"file": "a", "text": "x"}, {"path": "a", "content": "x"}),
        ("LS", {"dir": "src", "show_hidden": True}, {"path": "src", "hidden": True}),
        ("Definition", {"file_path": "a", "line": 1, "symbol": "x"}, {"path": "a", "line": 1, "symbol": "x"}),
        (
            "MultiEdit",
            {"path": "a", "changes": [{"old_str": "x", "new_string": "y"}, "odd"]},
            {"path": "a", "edits": [{"old_string": "x", "new_string": "y"}, "odd"]},
        ),
        (
            "TodoWrite",
            {"tasks": [{"text": "x", "state": "pending"}]},
            {"todos": [{"content": "x", "status": "pending"}]},
        ),
    ],
)
def test_a_habit_is_read_as_the_declared_name(tool: str, given: dict[str, Any], meant: dict[str, Any]):
    result = read(tool, **given)
    assert result.arguments == meant
    assert result.reported.startswith("Argument names: took `")


def test_every_pair_is_told_once():
    edits = [{"old_str": "a", "new_str": "b"}, {"old_str": "c", "new_str": "d"}]
    reported = read("MultiEdit", file_path="a.py", edits=edits).reported
    assert reported == (
        "Argument names: took `file_path` as `path`, `old_str` as `old_string`, `new_str` as `new_string`."
    )
    assert read("Read", path="a.py").reported == ""


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Read", {"path": "a.py", "file_path": "b.py"}),
        ("Read", {"path": "a.py", "file_path": "a.py"}),
        ("Read", {"file": "a.py", "filename": "a.py"}),
        ("Read", {"path": "a.py", "offset": 3}),
        ("Bash", {"command": "ls", "timeout": 3}),
        ("Grep", {"pattern": "x", "query": "y"}),
        ("Grep", {"pattern": "x", "glob": "*.py", "include": "*.md"}),
        ("Read", {"": "a.py"}),
        ("Read", {"PATHS": "a.py"}),
    ],
)
def test_what_could_mean_two_things_stays_for_the_validation_to_refuse(tool: str, given: dict[str, Any]):
    result = read(tool, **given)
    assert result.arguments == given
    assert result.reported == ""
    one = EVERY.get(tool)
    assert one is not None
    with pytest.raises(Exception, match="is not an argument"):
        EVERY.parse(one, result.arguments)
