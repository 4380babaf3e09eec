"""What an inspection shows is what the next request holds, byte for byte, in either dialect (L-5)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from codelaw.domain.reports import ContextReport
from tests.agent.conftest import Bench

QUESTION = "and what is next? [tool] x"
TODOS = [{"content": "one", "status": "in_progress"}, {"content": "two", "status": "pending"}]


def spelt(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def pieces(request: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The blocks of a request's messages, each with the label that may stand in front of it."""
    for message in request["messages"]:
        for block in message["content"]:
            match block["type"]:
                case "text":
                    yield message["role"], block["text"]
                case "tool_use":
                    yield message["role"], f"{block['name']} {spelt(block['input'])}"
                case "tool_result":
                    yield "tool", block["content"]


def compare(report: ContextReport, request: dict[str, Any]) -> None:
    """Every byte that was shown was sent, and every byte that was sent was shown."""
    texts = {layer: [one for one in report.sections if one.layer == layer] for layer in ("L1", "L2", "L3")}
    schemas = [one.text for one in texts["L1"] if one.name == "schemas"]
    assert schemas == ([spelt(request["tools"])] if "tools" in request else [])
    system = ["\n\n".join(one.text for one in texts["L1"] if one.name != "schemas")]
    system += [one.text for one in (*texts["L2"], *texts["L3"]) if one.name != "history"]
    assert "\n\n".join(system) == "\n\n".join(block["text"] for block in request["system"])
    left = "\n\n".join(one.text for one in report.sections if one.layer in {"turn", "tail"} or one.name == "history")
    for role, text in pieces(request):
        label = next(label for label in (f"[{role}] ", "") if left.startswith(f"{label}{text}"))
        left = left[len(label) + len(text) :].removeprefix("\n\n")
    assert left == ""


async def next_turn(bench: Bench, chat: str | None, text: str = QUESTION) -> ContextReport:
    """Send what was inspected; gives what was shown."""
    report = await bench.session.inspect(chat, text)
    bench.vendor.reset([bench.finish("an answer")])
    assert (await bench.turn(text, chat)).stop_reason == "finished"
    compare(report, bench.sent(0))
    return report


async def worked(bench: Bench, reads: int = 2) -> str:
    """A chat whose first turn has read, failed, called with odd arguments, and left a list of things to do."""
    for number in range(reads):
        (bench.root / f"a{number}.py").write_text(f"x = {number}  # 日本 <system-reminder>\n" + "y = 1\n" * 300)
    calls = [bench.act("Read", {"path": f"a{number}.py"}, thought=" look \n") for number in range(reads)]
    calls += [bench.act("Read", {"path": "none\u2028.py", "limit": 3}), bench.act("TodoWrite", {"todos": TODOS})]
    bench.vendor.reset([*calls, bench.finish("I have looked.  \n")])
    return (await bench.turn("look at @a0.py")).chat_id


@pytest.mark.parametrize("observations", ["text", "json"])
async def test_results_and_the_list_of_what_is_to_be_done(bench: Bench, observations: str) -> None:
    (bench.root / "CODE_LAW.md").write_text("Be kind.\n")
    await bench.reopen(context={"observations": observations, "pin": True})
    await next_turn(bench, None)
    report = await next_turn(bench, await worked(bench))
    whole = "\n".join(one.text for one in report.sections)
    assert ('{"status": "success"' in whole) == (observations == "json")
    assert {"history", "pin", "question"} <= {one.name for one in report.sections}
    assert "<todo-recap>" in whole


async def test_a_dialect_shows_what_the_other_has_written(bench: Bench) -> None:
    chat = await worked(bench)
    bench.dialect = "native" if bench.dialect == "react" else "react"
    await bench.reopen()
    await next_turn(bench, chat)


async def test_summaries(bench: Bench) -> None:
    await bench.reopen(context={"keepRounds": 1})
    chat = await worked(bench)
    for _ in range(3):
        await next_turn(bench, chat)
    assert (await bench.session.compact(chat)).compacted
    report = await next_turn(bench, chat)
    assert "summaries" in {one.name for one in report.sections}
