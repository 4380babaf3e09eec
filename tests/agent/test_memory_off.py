"""With memory switched off, or empty, requests are what they were without it (L-3)."""

from __future__ import annotations

from pathlib import Path

from codelaw.context.system.modules import system_sections
from codelaw.tools.toolbox import default_toolbox
from tests.agent.conftest import Bench

NINE = ("LS", "Glob", "Grep", "Read", "Edit", "MultiEdit", "Write", "Bash", "TodoWrite")
LONG = (
    "# Memory\nFinished turns stay above; of old ones, results may be cut or stand in one line. A file may have changed since "
    "you read it; a note says so when it did. Read again before you rely on old content, and always before an edit."
)
SHORT = "# Memory\nFinished turns stay above with shortened results. Read again before you rely on old content."


def sections(mode, *, remembering):
    toolbox = default_toolbox(memory=remembering).for_mode(mode)
    made = system_sections(
        mode=mode, dialect="react", tools_description=toolbox.manual(), schemas="", remembering=remembering
    )
    return {section.name: section.content for section in made}


def test_the_memory_module_speaks_of_long_term_memory_only_where_there_is_one():
    for mode, text in (("agent", LONG), ("ask", SHORT), ("plan", SHORT)):
        off, on = sections(mode, remembering=False), sections(mode, remembering=True)
        assert off["memory"] == text
        assert on["memory"].startswith(f"{text}\n\n")
        assert [name for name in on if on[name] != off[name]] == ["tools", "memory"]


async def request(bench: Bench) -> dict:
    bench.vendor.script = [*bench.vendor.script, bench.finish("done")]
    assert (await bench.turn("What is here?")).stop_reason == "finished"
    return bench.sent()


async def test_an_empty_memory_changes_a_request_by_its_two_tools_alone(bench: Bench, home: Path):
    with_memory = await request(bench)
    await bench.reopen(memory={"enabled": False})
    without = await request(bench)
    assert with_memory["messages"] == without["messages"]
    assert {name for name in with_memory if with_memory[name] != without[name]} <= {"system", "tools"}
    if bench.dialect == "native":
        its = {"memory_save", "memory_search"}
        assert its <= {tool["name"] for tool in with_memory["tools"]}
        assert [tool for tool in with_memory["tools"] if tool["name"] not in its] == without["tools"]
    assert "memory_save" not in str(without)
    assert "remembered" not in str(without)


async def test_switched_off_nothing_of_a_full_memory_is_shown(bench: Bench, home: Path):
    before = await _without_ids(bench, {"enabled": False})
    await bench.reopen()
    await bench.session.memories.save("The user prefers tabs", category="preference")
    assert await _without_ids(bench, {"enabled": False}) == before


async def _without_ids(bench: Bench, memory: dict) -> dict:
    await bench.reopen(memory=memory)
    sent = await request(bench)
    return {"system": sent["system"], "tools": sent.get("tools"), "first": sent["messages"][0]}
