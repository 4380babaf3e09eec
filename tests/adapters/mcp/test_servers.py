"""Well-behaved servers, of both eras of the protocol, over both transports (X-3)."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest

from codelaw.adapters.mcp.reading import INSTRUCTIONS
from codelaw.adapters.mcp.servers import McpServers
from codelaw.domain.errors import Refusal, ToolFailure
from codelaw.domain.served import Program, ServerAnswer, ServerQuestion, ServerSpec
from tests.adapters.mcp.conftest import NOBODY, Person, Told, no_calls, program


class Undecided(Person):
    """Says nothing."""

    def __init__(self, answer: ServerAnswer) -> None:
        super().__init__(answer)
        self.is_asked = asyncio.Event()

    async def ask(self, question: ServerQuestion) -> ServerAnswer:
        self.is_asked.set()
        await asyncio.Event().wait()
        return await super().ask(question)


async def test_what_it_serves_is_known_and_can_be_used(
    servers: McpServers, reported: Told, well_behaved: ServerSpec
) -> None:
    servers.begin([well_behaved])
    assert servers.states()[0].state == "starting"
    await reported.until("good", "ready")
    offer = servers.offer()
    assert [tool.full_name for tool in offer.tools][:2] == ["mcp__good__add", "mcp__good__fail"]
    assert offer.tools[0].says_read_only
    assert not offer.tools[1].says_read_only
    assert offer.tools[0].schema["required"] == ["a", "b"]
    assert [(prompt.name, prompt.arguments) for prompt in offer.prompts] == [("greet", ("who",))]
    assert [resource.uri for resource in offer.resources] == ["note://today"]
    (said,) = offer.instructions
    assert (said.server, said.text[:21], len(said.text)) == ("good", "Add before you paint.", INSTRUCTIONS)
    assert servers.offer() is offer

    result = await servers.call("good", "add", {"a": 1, "b": 2}, NOBODY)
    assert (result.text, result.structured, result.failed) == ("3", {"result": 3}, False)
    failed = await servers.call("good", "fail", {}, NOBODY)
    assert failed.failed
    assert "Error executing tool fail" in failed.text
    assert await servers.prompt("good", "greet", {"who": "Ada"}) == "Say hello to Ada."
    assert (await servers.read("good", "note://today")).text == "Water the plants."


async def test_a_server_is_waited_for_while_it_is_nearly_there(servers: McpServers, tmp_path: Path) -> None:
    servers.begin([program("good", "well_behaved.py", "stdio", "new")])
    await servers.settled(150)
    assert servers.states()[0].state == "ready"
    asleep = ServerSpec("asleep", Program("sleep", ("600",)), "test")
    servers.begin([asleep])
    await servers.settled(0.05)
    assert servers.states()[0].state == "starting", "its time to be nearly there is over"
    await servers.settled(0.05)
    broken = ServerSpec("broken", Program(str(tmp_path / "nothing")), "test")
    servers.begin([broken])
    await servers.settled(150)
    assert servers.states()[0].state == "failed"


async def test_calls_run_side_by_side(servers: McpServers, reported: Told, well_behaved: ServerSpec) -> None:
    servers.begin([well_behaved])
    await reported.until("good", "ready")
    sums = await asyncio.gather(*(servers.call("good", "add", {"a": one, "b": one}, NOBODY) for one in range(40)))
    assert [result.text for result in sums] == [str(2 * one) for one in range(40)]


async def test_a_question_reaches_the_user(servers: McpServers, reported: Told, well_behaved: ServerSpec) -> None:
    servers.begin([well_behaved])
    await reported.until("good", "ready")
    person = Person(ServerAnswer("accept", {"colour": "red"}))
    result = await servers.call("good", "paint", {}, person)
    assert result.text == "accept: red"
    assert [(question.server, question.message) for question in person.asked] == [("good", "Which colour?")]
    assert person.asked[0].schema is not None
    assert "colour" in person.asked[0].schema["properties"]
    assert (await servers.call("good", "paint", {}, NOBODY)).text == "decline: "


async def test_a_question_belongs_to_its_call(servers: McpServers, reported: Told, well_behaved: ServerSpec) -> None:
    servers.begin([well_behaved])
    await reported.until("good", "ready")
    persons = [Person(ServerAnswer("accept", {"colour": colour})) for colour in ("red", "blue", "green")]
    results = await asyncio.gather(*(servers.call("good", "paint", {}, person) for person in persons))
    answers = [result.text for result in results]
    if isinstance(well_behaved.way, Program) and "old" in well_behaved.way.args:
        assert len(answers) == 3, "a question does not say there to which call it belongs"
    else:
        assert answers == ["accept: red", "accept: blue", "accept: green"]


async def test_a_call_that_waits_for_the_user_ends_with_its_server(
    servers: McpServers, reported: Told, well_behaved: ServerSpec
) -> None:
    servers.begin([well_behaved])
    await reported.until("good", "ready")
    person = Undecided(ServerAnswer("accept", {"colour": "red"}))
    call = asyncio.create_task(servers.call("good", "paint", {}, person))
    async with asyncio.timeout(150):
        await person.is_asked.wait()
        servers.begin([])
        with pytest.raises(ToolFailure, match="ended before it answered") as failure:
            await call
    assert failure.value.uncertain
    await no_calls()


async def test_a_tool_that_comes_later_is_offered(
    servers: McpServers, reported: Told, well_behaved: ServerSpec
) -> None:
    servers.begin([well_behaved])
    before = (await reported.until("good", "ready")).tools
    seen = len(reported.states)
    assert (await servers.call("good", "grow", {}, NOBODY)).text == "grew"
    assert (await reported.until("good", "ready", after=seen)).tools == before + 1
    assert (await servers.call("good", "grown", {}, NOBODY)).text == "grown"


async def test_a_cancelled_call_leaves_nothing_behind(
    servers: McpServers, reported: Told, well_behaved: ServerSpec, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "codelaw.adapters.mcp.program")
    servers.begin([well_behaved])
    await reported.until("good", "ready")
    calls = [asyncio.create_task(servers.call("good", "hang", {}, NOBODY)) for _ in range(5)]
    assert (await servers.call("good", "add", {"a": 1, "b": 1}, NOBODY)).text == "2"
    for call in calls:
        call.cancel()
    assert all(isinstance(one, asyncio.CancelledError) for one in await asyncio.gather(*calls, return_exceptions=True))
    assert (await servers.call("good", "add", {"a": 1, "b": 1}, NOBODY)).text == "2"
    await no_calls()
    if isinstance(well_behaved.way, Program):
        async with asyncio.timeout(150):
            while caplog.text.count("hang was cancelled") < len(calls):
                await asyncio.sleep(0.01)


async def test_only_servers_in_force_can_be_used(servers: McpServers, reported: Told) -> None:
    servers.begin([program("good", "well_behaved.py", "stdio", "new")])
    await reported.until("good", "ready")
    servers.begin([])
    assert servers.states() == ()
    assert servers.offer().tools == ()
    with pytest.raises(ToolFailure, match="There is no server good any more"):
        await servers.call("good", "add", {"a": 1, "b": 1}, NOBODY)
    with pytest.raises(Refusal, match="There is no server good") as refusal:
        await servers.restart("good")
    assert refusal.value.code == "server_not_found"
