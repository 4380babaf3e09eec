"""Servers that mean harm: whatever one does, its call ends, nothing is left of it, and the others go on (S-6, R-8)."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from pathlib import Path

import pytest
from mcp_types import JSONRPCResponse

from codelaw.adapters.mcp.bounds import Admission
from codelaw.adapters.mcp.questions import QUESTIONS
from codelaw.adapters.mcp.servers import McpServers
from codelaw.domain.errors import ToolFailure
from codelaw.domain.served import Program, ServedResult, ServerAnswer, ServerSpec
from tests.adapters.mcp.conftest import NOBODY, Person, Told, made_servers, no_calls, processes, program


@pytest.fixture
async def both(servers: McpServers, reported: Told, request: pytest.FixtureRequest) -> McpServers:
    """A hostile server, of the kind that the test names, and another one."""
    servers.begin([program("bad", "hostile.py", request.param), program("other", "hostile.py", "none")])
    await reported.until("other", "ready")
    return servers


async def use(servers: McpServers, server: str = "bad") -> ServedResult:
    async with asyncio.timeout(150):
        return await servers.call(server, "tool", {}, NOBODY)


async def others_go_on(servers: McpServers) -> None:
    assert (await use(servers, "other")).text == "done"
    await no_calls()


kind = pytest.mark.parametrize


@kind("both", ["endless line", "rich result"], indirect=True)
async def test_a_message_without_an_end_ends_the_server(both: McpServers, reported: Told) -> None:
    await reported.until("bad", "ready")
    seen = len(reported.states)
    with pytest.raises(ToolFailure, match="sent more in one message than can be read") as failure:
        await use(both)
    assert failure.value.uncertain
    await others_go_on(both)
    await reported.until("bad", "ready", after=seen)  # it was begun anew


@kind("both", ["many parts", "long text"], indirect=True)
async def test_a_large_result_is_cut(both: McpServers, reported: Told) -> None:
    await reported.until("bad", "ready")
    result = await use(both)
    assert result.cut
    assert len(result.text) < 1_100_000
    await others_go_on(both)


@kind("both", ["hangs at a call", "floods"], indirect=True)
async def test_a_cancel_does_not_wait_for_the_server(both: McpServers, reported: Told) -> None:
    await reported.until("bad", "ready")
    call = asyncio.create_task(use(both))
    await asyncio.wait([call], timeout=0.2)
    call.cancel()
    await asyncio.wait([call])
    assert call.cancelled() or call.result().text == "done"
    await others_go_on(both)


async def test_a_call_that_hangs_ends_with_its_time(reported: Told, tmp_path: Path) -> None:
    servers = made_servers(tmp_path, reported)
    both = [program("bad", "hostile.py", "hangs at a call"), program("other", "hostile.py", "none")]
    servers.begin(both, call_seconds=3.0)
    await reported.until("bad", "ready")
    await reported.until("other", "ready")
    with pytest.raises(ToolFailure, match="did not answer within") as failure:
        await use(servers)
    assert (failure.value.code, failure.value.uncertain) == ("TIMEOUT", True)
    servers.begin(both)  # a busy machine may take longer
    await others_go_on(servers)
    await servers.close()


async def test_progress_keeps_a_call_alive(reported: Told, tmp_path: Path) -> None:
    servers = made_servers(tmp_path, reported)
    servers.begin([program("good", "well_behaved.py", "stdio", "new")], call_seconds=4.0)
    await reported.until("good", "ready")
    person = Person(ServerAnswer("decline"))
    assert (await servers.call("good", "work", {"steps": 25}, person)).text == "worked"
    assert person.heard[:2] == ["1 of 25", "2 of 25"], "and is told"
    await servers.close()


async def test_a_server_that_does_not_start_fails(reported: Told, tmp_path: Path) -> None:
    for seconds in (8, 90):  # on a busy machine the other one takes longer, too
        reported.states.clear()
        servers = made_servers(tmp_path, reported, start_seconds=float(seconds))
        servers.begin([program("bad", "hostile.py", "hangs at the start"), program("other", "hostile.py", "none")])
        await reported.until("bad", "failed")
        await servers.settled(150)
        assert servers.states()[0].message == f"It did not start within {seconds} s."
        if servers.states()[1].state == "ready":
            break
        await servers.close()
    await others_go_on(servers)
    await servers.close()


@kind("both", ["ends at the start"], indirect=True)
async def test_why_a_server_ended_is_told(both: McpServers, reported: Told) -> None:
    failed = await reported.until("bad", "failed")
    assert failed.message == "It has ended with exit code 3. Its last words: no such database"
    with pytest.raises(ToolFailure, match="not ready"):
        await use(both)
    await others_go_on(both)


@kind("both", ["ends at a call"], indirect=True)
async def test_a_server_that_ends_is_begun_anew(both: McpServers, reported: Told) -> None:
    await reported.until("bad", "ready")
    seen = len(reported.states)
    with pytest.raises(ToolFailure, match=r"ended before it answered.*exit code 7.*the disk is on fire"):
        await use(both)
    await reported.until("bad", "ready", after=seen)
    await others_go_on(both)


@kind("both", ["crash loop"], indirect=True)
async def test_a_crash_loop_comes_to_an_end(both: McpServers, reported: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codelaw.adapters.mcp.server.RESTARTS", (0.1, 0.1))
    failed = await reported.until("bad", "failed")
    assert "exit code 9" in failed.message
    assert "out of luck" in failed.message
    assert [state.state for state in reported.states if state.name == "bad"].count("ready") == 3
    assert both.offer().tools == tuple(tool for tool in both.offer().tools if tool.server == "other")
    await others_go_on(both)


@kind("both", ["changes"], indirect=True)
async def test_lists_that_change_all_the_time_are_looked_at_now_and_then(both: McpServers, reported: Told) -> None:
    await reported.until("bad", "ready")
    began, seen = time.monotonic(), len(reported.states)
    for _ in range(3):
        await reported.until("bad", "ready", after=seen)
        seen = len(reported.states)
    assert time.monotonic() - began > 1.5
    await others_go_on(both)


@kind("both", ["many", "too many", "shadows", "schemas", "broken lists", "lies"], indirect=True)
async def test_strange_lists(both: McpServers, reported: Told, request: pytest.FixtureRequest) -> None:
    state = await reported.until("bad", "ready")
    tools = {tool.name: tool for tool in both.offer().tools if tool.server == "bad"}
    match request.node.callspec.params["both"]:
        case "many":
            assert (len(tools), state.message) == (4_000, "")
        case "too many":
            assert len(tools) == 5_000
            assert "tools are left out" in state.message
        case "shadows":
            assert sorted(tools) == ["Bash", "Read", "mcp__other__tool", "tool"]
            assert tools["Read"].full_name == "mcp__bad__Read"
            assert "2 tools are left out" in state.message
        case "schemas":
            assert sorted(tools) == ["cycle", "deep", "tool"]
            assert "2 tools are left out" in state.message
            assert (await use(both)).structured == {"a": "a" * 60 + "!"}
        case "broken lists":
            assert sorted(tools) == ["before", "tool"]
            assert "7 tools are left out" in state.message
            assert "malformed" in state.message
            prompts = {one.name: one.arguments for one in both.offer().prompts if one.server == "bad"}
            assert prompts == {"q": ("a",)}
            assert both.offer().resources == ()
            assert (await use(both)).text == "done"
        case _:
            assert tools["delete_all"].says_read_only
    await others_go_on(both)


@kind("both", ["large pages"], indirect=True)
async def test_lists_have_an_end_in_their_length_too(both: McpServers, reported: Told) -> None:
    state = await reported.until("bad", "ready")
    assert state.message == (
        "Its list of tools is cut: what stands behind the first 120 is left out (the list is too long)."
    )
    assert len([one for one in both.offer().resources if one.server == "bad"]) == 2
    assert len([one for one in both.offer().prompts if one.server == "bad"]) == 2
    await others_go_on(both)


@kind("both", ["half lists"], indirect=True)
async def test_a_page_that_fails_costs_none_before_it(both: McpServers, reported: Told) -> None:
    await reported.until("bad", "ready")
    assert [one.name for one in both.offer().prompts if one.server == "bad"] == ["first"]


@kind("both", ["halves"], indirect=True)
async def test_a_text_that_was_cut_in_a_character_is_read(both: McpServers, reported: Told) -> None:
    await reported.until("bad", "ready")
    assert (await use(both)).text == "half \ufffd, \U0001f600, \\ud83d, \ufffd\ufffd"
    await others_go_on(both)


@kind("both", ["garbage", "talks"], indirect=True)
async def test_noise_is_no_answer(both: McpServers, reported: Told) -> None:
    await reported.until("bad", "ready")
    assert (await use(both)).text == "done"
    await others_go_on(both)


@kind("both", ["asks too much"], indirect=True)
async def test_what_was_not_offered_is_refused(both: McpServers, reported: Told) -> None:
    await reported.until("bad", "ready")
    assert (await use(both)).text == "asked"
    await others_go_on(both)


@kind("both", ["questions"], indirect=True)
async def test_a_server_cannot_ask_for_ever(both: McpServers, reported: Told) -> None:
    await reported.until("bad", "ready")
    person = Person(ServerAnswer("accept", {"a": "b"}))
    assert (await both.call("bad", "tool", {}, person)).text == "asked"
    assert len(person.asked) <= 10
    await others_go_on(both)


async def test_more_questions_at_once_are_not_looked_at() -> None:
    asked = {"method": "elicitation/create", "params": {"message": "Why?", "requestedSchema": {"type": "object"}}}
    result = {"resultType": "input_required", "inputRequests": {str(number): asked for number in range(5_000)}}
    answer = JSONRPCResponse(jsonrpc="2.0", id=1, result=result)
    assert Admission().lets_in(answer)
    assert len(answer.result["inputRequests"]) == QUESTIONS


@kind("both", ["malformed", "too deep"], indirect=True)
async def test_an_answer_that_cannot_be_read_is_told(both: McpServers, reported: Told) -> None:
    await reported.until("bad", "ready")
    with pytest.raises(ToolFailure, match="cannot be read"):
        await use(both)
    await others_go_on(both)


async def test_no_process_is_left(reported: Told, tmp_path: Path) -> None:
    servers = made_servers(tmp_path, reported)
    mark = {"TEST_MARK": str(tmp_path)}
    kinds = {"bad": "leaves a child", "stubborn": "does not end"}
    specs = [program(name, "hostile.py", harm) for name, harm in kinds.items()]
    servers.begin([replace(spec, way=replace(spec.way, env=mark)) for spec in specs])
    await reported.until("bad", "ready")
    await reported.until("stubborn", "ready")
    assert len(processes(tmp_path)) == 3
    await servers.close()
    assert processes(tmp_path) == []


async def test_a_program_that_cannot_be_started_fails(servers: McpServers, reported: Told) -> None:
    servers.begin([ServerSpec("none", Program("/no/such/program"), "test"), ServerSpec("nul", Program("a\0b"), "test")])
    assert "No such file" in (await reported.until("none", "failed")).message
    assert "cannot be started" in (await reported.until("nul", "failed")).message
