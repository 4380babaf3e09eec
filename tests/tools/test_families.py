"""Which rules speak of which tool follows from what the tool declares (S-1)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from codelaw.permissions.policy import CallFacts, Rules, judge
from codelaw.permissions.rules import parse
from codelaw.tools.base import PATH_ARGUMENT, AnyTool, Arguments, Tool
from codelaw.tools.toolbox import SERVED, default_toolbox, ruled_tools

EVERY = default_toolbox(services=SERVED, code=True, memory=True)
TOOLS = [tool for name in EVERY.names if (tool := EVERY.get(name)) is not None]
WITH_PATHS = [tool for tool in TOOLS if any(PATH_ARGUMENT.search(name) for name in tool.arguments.model_fields)]


def facts(tool: AnyTool, path: str) -> CallFacts:
    return CallFacts(tool.name, tool.effect, path, paths=tool.paths)


def action(tool: AnyTool, path: str, *, deny: str = "", allow: str = "") -> str:
    rules = Rules((parse(allow),) if allow else (), (parse(deny),) if deny else ())
    return judge(facts(tool, path), mode="agent", rules=rules).action


def test_the_editor_s_tools_are_among_those_with_paths():
    names = {tool.name for tool in WITH_PATHS}
    assert names >= {"Diagnostics", "Definition", "References", "Rename", "QuickFix", "LS", "Glob", "Grep", "Read"}
    assert names == {name for name, paths in ruled_tools().items() if paths is not None}


@pytest.mark.parametrize("tool", WITH_PATHS, ids=lambda tool: tool.name)
def test_every_tool_with_a_path_is_in_a_family(tool: AnyTool):
    assert action(tool, "secrets/a", deny="Read(secrets/**)") == "deny"
    writes = tool.effect == "write"
    assert tool.paths == ("writes" if writes else "reads")
    assert (action(tool, "secrets/a", deny="Edit(secrets/**)") == "deny") is writes
    assert (action(tool, "src/a", allow="Edit(src/**)") == "allow") is (writes or tool.effect == "read")
    if writes:
        assert action(tool, "src/a", allow="Read(src/**)") == "ask"


@pytest.mark.parametrize("tool", WITH_PATHS, ids=lambda tool: tool.name)
def test_every_tool_with_a_path_names_it_for_the_rules(tool: AnyTool):
    every: dict[str, Any] = {
        "pattern": "x",
        "old_string": "a",
        "new_string": "b",
        "content": "c",
        "line": 1,
        "symbol": "s",
        "new_name": "n",
        "title": "t",
        "query": "q",
        "edits": [{"old_string": "a", "new_string": "b"}],
    }
    given = {key: value for key, value in every.items() if key in tool.arguments.model_fields}
    given |= {name: "secrets/a" for name in tool.arguments.model_fields if PATH_ARGUMENT.search(name)}
    assert tool.subject(EVERY.parse(tool, json.loads(json.dumps(given)))) == "secrets/a"


class FoldArguments(Arguments):
    file_path: str


def test_a_tool_that_takes_paths_and_does_not_say_what_for_cannot_be_declared():
    with pytest.raises(TypeError, match="path"):

        class Silent(Tool[FoldArguments]):  # pyright: ignore[reportUnusedClass]
            name = "Silent"
            description = ""
            arguments = FoldArguments
            effect = "read"
