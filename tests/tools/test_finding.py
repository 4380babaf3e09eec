"""Tools that are found before they are called (X-11)."""

from __future__ import annotations

import random
from typing import Any

import pytest

from codelaw.domain.errors import ToolFailure
from codelaw.domain.results import ToolResult
from codelaw.tools.base import AnyTool
from codelaw.tools.finding.find_tools import manual_of, unwrapped
from codelaw.tools.toolbox import Toolbox, default_toolbox, ruled_tools
from tests.fakes.desk import Desk
from tests.fakes.served import BroughtTool, issue_tool, many, text


def deferring(*tools: AnyTool, skills: tuple[tuple[str, str], ...] = (), calling: bool = False) -> Toolbox:
    made = default_toolbox(brought=tools).searched(skills, deferring=True)
    return made.calling() if calling else made


async def find(desk: Desk, toolbox: Toolbox, query: str) -> ToolResult:
    desk.toolbox = toolbox
    return await desk("find_tools", query=query)


def names(result: ToolResult, kind: str = "tools") -> list[str]:
    return [one["name"] for one in result.data[kind]]


def test_brought_tools_stand_last_in_the_manual():
    toolbox = default_toolbox(brought=[issue_tool()])
    assert toolbox.names[-2:] == ("TodoWrite", "mcp__github__create_issue")
    assert toolbox.manual().endswith(
        "mcp__github__create_issue[{owner: str, title: str}]\nOpen a new issue in a GitHub repository.\n"
        "  owner: Who owns the repository\n  title: The headline of the issue"
    )
    assert toolbox.schemas()[-1].name == "mcp__github__create_issue"


def test_a_brought_tool_replaces_none_of_ours():
    toolbox = default_toolbox(brought=[BroughtTool("Read", "Mine now."), issue_tool(), BroughtTool("find_tools")])
    read = toolbox.get("Read")
    assert read is not None
    assert read.description != "Mine now."
    found = toolbox.searched(deferring=True).get("find_tools")
    assert found is not None
    assert "github" in found.description


def test_deferred_tools_are_there_to_run_and_told_nowhere():
    toolbox = deferring(issue_tool(), *many(300))
    assert toolbox.deferred == 301
    assert toolbox.get("mcp__github__create_issue") is not None
    assert toolbox.names[-2:] == ("TodoWrite", "find_tools")
    assert "create_issue" not in toolbox.manual()
    assert "mcp__github__create_issue" in toolbox.callable
    assert deferring(issue_tool(), calling=True).names[-2:] == ("find_tools", "call_tool")


def test_where_nothing_is_to_be_found_nothing_changes():
    toolbox = default_toolbox(brought=[issue_tool()])
    assert toolbox.searched(deferring=False).calling() is toolbox
    skills_only = toolbox.searched([("pdf", "Fill in forms")], deferring=False).calling()
    assert skills_only.names == (*default_toolbox().names, "find_tools", "mcp__github__create_issue")


def test_reading_modes_offer_what_reads():
    brought = [issue_tool(), BroughtTool("mcp__docs__look_up", effect="read")]
    asking = default_toolbox(brought=brought).for_mode("ask").searched(deferring=True).calling()
    assert asking.names == ("LS", "Glob", "Grep", "Read", "find_tools", "call_tool")
    assert asking.get("mcp__docs__look_up") is not None
    assert asking.get("mcp__github__create_issue") is None


def test_a_part_of_the_tools_is_found_among_itself():
    every = deferring(*many(4), issue_tool(), calling=True)
    reading = every.only({"Read", "find_tools", "call_tool", issue_tool().name})
    assert reading.names == ("Read", "find_tools", "call_tool")
    assert [tool.name for tool in reading.brought] == [issue_tool().name]
    assert reading.deferred == 1
    assert reading.get("Write") is None
    without = every.only({"Read", issue_tool().name})
    assert without.names == ("Read", issue_tool().name)
    assert without.deferred == 0
    assert every.only({"Read", "find_tools", "call_tool"}).names == ("Read",)


def test_the_description_names_servers_and_never_how_many():
    one, other = deferring(*many(300)), deferring(*many(297))
    assert one.manual() == other.manual()
    assert "server0, server1" in one.manual()
    assert len(deferring(*(BroughtTool(f"mcp__{'s' * 40}{n}__x") for n in range(4_000))).manual()) < 7_000


async def test_the_manuals_of_the_best_five_are_told(desk: Desk):
    result = await find(desk, deferring(*many(300), issue_tool()), "open an issue on github")
    assert names(result)[0] == "mcp__github__create_issue"
    assert len(names(result)) <= 5
    assert result.data["total"] == 301
    assert result.data["tools"][0]["manual"] == manual_of(issue_tool())


@pytest.mark.parametrize("query", ["headline", "createIssue", "CREATE_ISSUE", "github", "creating issues", "owns"])
async def test_names_servers_descriptions_and_arguments_are_searched(query: str, desk: Desk):
    assert names(await find(desk, deferring(*many(200), issue_tool()), query))[0] == "mcp__github__create_issue"


async def test_skills_that_the_index_leaves_out_are_found_too(desk: Desk):
    skills = (("fill-forms", "Fill in PDF forms"), ("brew", "Brew beer"))
    result = await find(desk, deferring(issue_tool(), skills=skills), "pdf form")
    assert names(result, "skills") == ["fill-forms"]
    assert "load_skill" in result.text


@pytest.mark.parametrize("query", [" ", "…?!", "\x00", "zzqqxx", "\u200b"])
async def test_what_fits_nothing_is_said(query: str, desk: Desk):
    result = await find(desk, deferring(*many(20)), query)
    assert names(result) == []
    assert "other words" in result.text


async def test_a_query_of_100_kb_is_answered_and_not_given_back(desk: Desk):
    result = await find(desk, deferring(*many(20), issue_tool()), "github issue " + "x y z " * 17_000)
    assert names(result)[0] == "mcp__github__create_issue"
    assert len(result.data["query"]) <= 200


def test_an_empty_query_is_refused():
    toolbox = deferring(issue_tool())
    tool = toolbox.get("find_tools")
    assert tool is not None
    with pytest.raises(ToolFailure, match="query"):
        toolbox.parse(tool, {"query": ""})


async def test_4000_tools_of_one_description_give_five(desk: Desk):
    alike = [BroughtTool(f"mcp__s__tool_{number}", "Does the very same thing.") for number in range(4_000)]
    assert len(names(await find(desk, deferring(*alike), "the same thing"))) == 5
    assert names(await find(desk, deferring(*alike), "tool 3777"))[0] == "mcp__s__tool_3777"


async def test_names_that_differ_in_spelling_only_stay_apart(desk: Desk):
    spelt = ["mcp__s__get_item", "mcp__s__getItem", "mcp__s__GET_ITEM", "mcp__s__get__item"]
    toolbox = deferring(*map(BroughtTool, spelt))
    assert sorted(names(await find(desk, toolbox, "get item"))) == sorted(spelt)
    assert all(toolbox.get(name) is not None for name in spelt)


async def test_what_is_endless_is_cut(desk: Desk):
    deep: dict[str, Any] = {"type": "object"}
    for _ in range(900):
        deep = {"type": "object", "properties": {"inner": deep}, "description": "d" * 400}
    endless = BroughtTool("mcp__s__big_one", "words " * 200_000, {"x": text("said " * 200_000), "y": text()})
    endless.properties = {**endless.properties, "z": deep, "n" * 1_000_000: {"enum": ["c" * 1_000_000] * 500}}
    result = await find(desk, deferring(endless, *many(3)), "big one")
    assert len(result.data["tools"][0]["manual"]) < 5_000
    assert result.status == "success"


def test_no_schema_can_break_a_manual():
    dice = random.Random(11)
    words = ("type", "properties", "items", "enum", "anyOf", "required", "default", "minimum", "maxLength", "object")

    def anything(depth: int) -> Any:
        kind = dice.randrange(7 if depth else 4)
        if kind < 4:
            return (None, dice.choice(words), dice.randrange(-3, 9), "array")[kind]
        if kind == 4:
            return [anything(depth - 1) for _ in range(dice.randrange(4))]
        return {dice.choice(words): anything(depth - 1) for _ in range(dice.randrange(1, 6))}

    for _ in range(2_000):
        tool = BroughtTool("mcp__s__odd", "Odd.")
        tool.properties = {"a": anything(5), "b": anything(5)}
        assert manual_of(tool).startswith("mcp__s__odd[{a: ")


def test_wrong_arguments_of_a_deferred_tool_bring_its_manual_again():
    toolbox = deferring(issue_tool())
    tool = toolbox.get("mcp__github__create_issue")
    assert tool is not None
    with pytest.raises(ToolFailure) as refused:
        toolbox.parse(tool, {"owner": "me"})
    assert "title is required" in refused.value.message
    assert manual_of(issue_tool()) in refused.value.message


def test_an_unknown_name_is_answered_with_those_like_it():
    toolbox = deferring(issue_tool(), *many(300))
    said = toolbox.unknown("mcp__github__open_issue")
    assert "finds: mcp__github__create_issue" in said
    assert "LS, Glob" in said
    assert len(toolbox.unknown("\u202ex" * 500_000)) < 600
    assert toolbox.unknown("Fly").endswith("find_tools finds more.")
    assert "The tools are: LS" in default_toolbox().unknown("Fly")


@pytest.mark.parametrize(
    ("written", "name", "arguments"),
    [
        ({"name": "x", "arguments": {"a": 1}}, "x", {"a": 1}),
        ({"name": " x "}, "x", {}),
        ({"tool": "x", "args": {"a": 1}}, "x", {"a": 1}),
        ({"name": "x", "arguments": '{"a": 1}'}, "x", {"a": 1}),
        ({"name": "x", "arguments": ""}, "x", {}),
        ({"name": "x", "a": 1}, "x", {"a": 1}),
    ],
)
def test_the_call_inside_is_read(written: dict[str, Any], name: str, arguments: dict[str, Any]):
    inside = unwrapped(written)
    assert (inside.name, dict(inside.arguments), inside.problem) == (name, arguments, "")


@pytest.mark.parametrize(
    "written",
    [
        {},
        {"name": ""},
        {"name": 5, "arguments": {}},
        {"name": "call_tool", "arguments": {"name": "call_tool"}},
        {"name": "x", "arguments": [1]},
        {"name": "x", "arguments": None},
        {"name": "x", "arguments": "{"},
        {"name": "x", "arguments": "[" * 100_000},
        {"name": "x", "arguments": {}, "more": 1},
    ],
)
def test_what_holds_no_call_is_told_why(written: dict[str, Any]):
    inside = unwrapped(written)
    assert inside.name == "call_tool"
    assert "Expected" in inside.problem


def test_rules_may_name_find_tools():
    assert "find_tools" in ruled_tools()
