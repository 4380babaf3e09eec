from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import BaseModel

from codelaw.domain.errors import ToolFailure
from codelaw.tools.toolbox import default_toolbox

NINE = ("LS", "Glob", "Grep", "Read", "Edit", "MultiEdit", "Write", "Bash", "TodoWrite")
ARGUMENTS = {
    "LS": {"path", "limit", "hidden"},
    "Glob": {"pattern", "path", "limit"},
    "Grep": {"pattern", "path", "glob", "case_sensitive", "limit"},
    "Read": {"path", "start_line", "limit"},
    "Edit": {"path", "old_string", "new_string", "replace_all", "dry_run"},
    "MultiEdit": {"path", "edits", "dry_run"},
    "Write": {"path", "content", "dry_run"},
    "Bash": {"command", "timeout_ms", "description"},
    "TodoWrite": {"todos"},
}


def test_the_nine_tools_and_their_arguments():
    toolbox = default_toolbox()
    assert toolbox.names == NINE
    schemas = {schema.name: schema.input_schema for schema in toolbox.schemas()}
    assert {name: set(schema["properties"]) for name, schema in schemas.items()} == ARGUMENTS


def test_descriptions_are_terse():
    toolbox = default_toolbox()
    native = json.dumps([[s.name, s.description, s.input_schema] for s in toolbox.schemas()])
    assert len(toolbox.manual()) / 3.5 <= 800
    assert len(native) / 3.5 <= 1300
    for word in ("title", "$defs", "$ref", "anyOf"):
        assert f'"{word}"' not in native


@pytest.mark.parametrize(
    ("tool", "arguments", "says"),
    [
        ("Read", {}, ["path is required"]),
        ("Read", {"path": "a", "start_line": "5"}, ["start_line = '5'", "integer"]),
        ("Read", {"path": "a", "limit": 2001}, ["limit = 2001", "2000"]),
        ("Read", {"path": "a", "offset": 1}, ["offset is not an argument"]),
        ("Read", {"path": 5}, ["path = 5", "string"]),
        ("Read", {"path": ' "a.py" '}, ["path = ", "leave out the quotes"]),
        ("Write", {"path": "`a.py`", "content": ""}, ["leave out the quotes"]),
        ("LS", {"path": "~/x"}, ["`~` is not the home"]),
        ("Grep", {"pattern": "x", "path": "~"}, ["`~` is not the home"]),
        ("Edit", {"path": "file:///a", "old_string": "x", "new_string": "y"}, ["it is a URI"]),
        ("LS", {"hidden": "yes"}, ["hidden = 'yes'", "boolean"]),
        ("LS", {"limit": True}, ["limit = True"]),
        ("MultiEdit", {"path": "a", "edits": [{"old_string": "x"}]}, ["edits[0].new_string is required"]),
        ("Bash", {"command": "x", "timeout_ms": 600_001}, ["timeout_ms = 600001", "600000"]),
        ("TodoWrite", {"todos": [{"content": "x", "status": "done"}]}, ["todos[0].status = 'done'", "in_progress"]),
        ("TodoWrite", {"todos": [{"content": "x" * 201, "status": "pending"}]}, ["todos[0].content", "200"]),
        ("TodoWrite", {"todos": [{"content": "x", "status": "pending"}] * 21}, ["todos", "20"]),
    ],
)
def test_errors_name_field_value_and_rule(tool: str, arguments: dict[str, Any], says: list[str]):
    toolbox = default_toolbox()
    one = toolbox.get(tool)
    assert one is not None
    with pytest.raises(ToolFailure) as refused:
        toolbox.parse(one, arguments)
    assert refused.value.code == "INVALID_PARAM"
    for words in says:
        assert words in refused.value.message
    assert len(refused.value.message) < 600


def test_the_schema_of_arguments_is_made_once_however_many_turns_begin(monkeypatch: pytest.MonkeyPatch):
    """It takes longer than all the rest of a turn's beginning."""
    first = default_toolbox()
    before = first.manual(), first.schemas()

    def made(cls: type[BaseModel], **_: object) -> dict[str, Any]:
        raise AssertionError(cls)

    monkeypatch.setattr(BaseModel, "model_json_schema", classmethod(made))
    later = default_toolbox()
    assert (later.manual(), later.schemas()) == before
