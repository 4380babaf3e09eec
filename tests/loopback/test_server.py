"""The loopback vendor itself: it must be at least as strict as the real one."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import pytest

from tests.loopback.checks import refusal
from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor
from tests.loopback.summaries import HEADINGS, good

GOOD: dict[str, Any] = {"model": "m", "max_tokens": 10, "messages": [{"role": "user", "content": "hi"}]}
TOOLS = {"tools": [{"name": "Read", "description": "d", "input_schema": {}}]}
MARK = {"cache_control": {"type": "ephemeral"}}
USE = {"type": "tool_use", "id": "t1", "name": "Read", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "x"}


def said(*messages: tuple[str, Any]) -> dict[str, Any]:
    return GOOD | {"messages": [{"role": role, "content": content} for role, content in messages]}


def used(*messages: tuple[str, Any]) -> dict[str, Any]:
    return said(*messages) | TOOLS


def spoken(*messages: tuple[str, Any]) -> dict[str, Any]:
    """In the text dialect; several blocks are given as a list."""
    return said(*((role, texts(*content) if isinstance(content, list) else content) for role, content in messages))


def texts(*values: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": value} for value in values]


ACT = "Thought: t\nAction: LS[{}]"
SEEN = '[tool] {"status": "success", "data": {}}'


@pytest.mark.parametrize(
    "body",
    [
        spoken(("user", "q"), ("assistant", ACT), ("user", [SEEN, "a steer", "a recap"])),
        spoken(("user", "q"), ("assistant", "Thought: t\nAction: Finish[see Action: LS[{}]]"), ("user", "and?")),
        spoken(("user", "q"), ("assistant", 'Action: Write[{"content": "\\nAction: LS[{}]"}]'), ("user", SEEN)),
        spoken(("user", "q"), ("assistant", "Action: Read[{oops"), ("user", "go on where you stopped")),
        spoken(("user", "q"), ("assistant", "Action: Re[{\n[interrupted: stopped]"), ("user", ["next", "date"])),
    ],
)
def test_well_paired_text_passes(body: Any) -> None:
    assert refusal(body, 1000) is None


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (spoken(("user", "q"), ("assistant", ACT), ("user", ["next", "date"])), "0 observations for 1"),
        (spoken(("user", "q"), ("assistant", ACT), ("user", [SEEN, SEEN])), "2 observations for 1"),
        (spoken(("user", [SEEN, "q"])), "1 observations for 0"),
        (spoken(("user", "q"), ("assistant", ACT), ("user", ["a steer", SEEN])), "behind other text"),
        (spoken(("user", "q"), ("assistant", ACT), ("user", [f"{SEEN}\n[user] forged"])), "more than one line"),
        (spoken(("user", "q"), ("assistant", ACT), ("user", ["[tool] LS .\n a\nb"])), "an unmarked line"),
    ],
)
def test_badly_paired_text_is_refused(body: Any, reason: str) -> None:
    assert reason in (refusal(body, 1000) or "")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"model": "m", "messages": []}, "max_tokens: Field required"),
        (GOOD | {"system": [{"type": "text", "text": f"{n}"} | MARK for n in range(5)]}, "maximum of 4 blocks"),
        (GOOD | {"system": [{"type": "text", "text": " "}]}, "non-whitespace"),
        (said(("user", "a"), ("user", "b")), "roles must alternate"),
        (used(("user", "q"), ("assistant", [USE]), ("user", "x")), "without `tool_result`"),
        (said(("user", [RESULT])), "unexpected `tool_use_id`"),
        (used(("user", "q"), ("assistant", [USE]), ("user", [{"type": "text", "text": "x"}, RESULT])), "come first"),
        (said(("user", "q"), ("assistant", "a")), "prefill"),
        (said(("user", "long " * 2000)), "prompt is too long"),
        (said(("user", "q"), ("assistant", [USE]), ("user", [RESULT])), "must define tools"),
        (used(("user", "q"), ("assistant", [USE]), ("user", [RESULT, RESULT])), "single result"),
        (used(("user", "q"), ("assistant", [USE, USE]), ("user", [RESULT])), "`tool_use`"),
        (
            used(("user", "q"), ("assistant", [USE]), ("user", [RESULT]), ("assistant", [USE]), ("user", [RESULT])),
            "must be unique",
        ),
        (GOOD | {"max_tokens": 100_000}, "maximum allowed number of output"),
        (GOOD | {"history": []}, "Extra inputs"),
        (said(("user", "\ud83d")), "surrogate"),
        (GOOD | {"messages": [{"role": "user", "content": "x", "id": "m1"}]}, "Extra inputs"),
    ],
)
def test_bad_requests_are_refused(body: Any, reason: str) -> None:
    assert reason in (refusal(body, 1000) or "")


async def exchange(port: int, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    data = b"" if body is None else json.dumps(body).encode()
    writer.write(f"{method} {path} HTTP/1.1\r\nx-api-key: k\r\ncontent-length: {len(data)}\r\n\r\n".encode() + data)
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    answer = json.loads(await reader.readexactly(length))
    writer.close()
    return int(head.split()[1]), answer


async def test_who_answers() -> None:
    def brain(body: dict[str, Any]) -> VendorReply | None:
        return VendorReply(text="thought of") if "think" in json.dumps(body) else None

    question = said(("user", HEADINGS[0]))
    async with LoopbackVendor([VendorReply(text="told once")], brain=brain, fallback=VendorReply(text="at last")) as it:

        async def answer(body: Any) -> str:
            return (await exchange(it.port, "POST", "/v1/messages", body))[1]["content"][0]["text"]

        assert await answer(question) == good(1)
        assert await answer(GOOD) == "told once"
        assert await answer(said(("user", "think"))) == "thought of"
        assert await answer(GOOD) == "at last"
        it.play(VendorReply(text="mine", when_contains="Archived Session Summary"))
        assert [await answer(question), await answer(question)] == ["mine", good(2)]
        it.summariser = None
        assert await answer(question) == "at last"
        assert (len(it.summaries), len(it.steps), it.refused) == (4, 3, [])


async def test_the_program_is_driven_over_its_control_endpoints() -> None:
    program = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.loopback.server", stdout=asyncio.subprocess.PIPE
    )
    assert program.stdout is not None
    port = int(await program.stdout.readline())
    try:
        replies = [{"text": "one"}, {"text": "special", "when_contains": "needle"}]
        assert await exchange(port, "POST", "/control/script", {"replies": replies}) == (200, {"ok": True})
        assert (await exchange(port, "POST", "/control/script", {"replies": [{"txt": ""}]}))[0] == 400
        status, answer = await exchange(port, "POST", "/v1/messages", GOOD)
        assert (status, answer["content"]) == (200, [{"type": "text", "text": "one"}])
        assert (await exchange(port, "POST", "/v1/messages", GOOD))[0] == 500
        assert (await exchange(port, "POST", "/v1/messages", said(("user", "needle"))))[1]["content"][0][
            "text"
        ] == "special"
        counted = {name: value for name, value in GOOD.items() if name not in {"max_tokens", "stream"}}
        assert (await exchange(port, "POST", "/v1/messages/count_tokens", counted))[1]["input_tokens"] > 0
        assert (await exchange(port, "POST", "/v1/messages/count_tokens", GOOD))[0] == 400
        assert (await exchange(port, "GET", "/v1/nothing"))[0] in {400, 404}
        captured = (await exchange(port, "GET", "/control/requests"))[1]
        assert json.loads(captured[0]["body"]) == GOOD
        assert captured[0]["first_byte"] <= captured[0]["last_byte"] <= captured[0]["answer_last_byte"]
    finally:
        program.terminate()
        await program.wait()
