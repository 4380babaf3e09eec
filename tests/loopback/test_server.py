"""The loopback vendor itself: it must be at least as strict as the real one."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import pytest

from tests.loopback.checks import PrefixCache, refusal
from tests.loopback.script import FAULTS, MORE_FAULTS, VendorReply, fault

GOOD: dict[str, Any] = {"model": "m", "max_tokens": 10, "messages": [{"role": "user", "content": "hi"}]}
MARK = {"cache_control": {"type": "ephemeral"}}
USE = {"type": "tool_use", "id": "t1", "name": "Read", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "x"}


def said(*messages: tuple[str, Any]) -> dict[str, Any]:
    return GOOD | {"messages": [{"role": role, "content": content} for role, content in messages]}


def test_good_requests_pass() -> None:
    assert refusal(GOOD, 1000) is None
    assert (
        refusal(said(("user", "q"), ("assistant", [USE]), ("user", [RESULT, {"type": "text", "text": "x"}])), 1000)
        is None
    )


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ([], "dictionary"),
        ({"model": "m", "messages": []}, "max_tokens: Field required"),
        (GOOD | {"max_tokens": 0}, "greater than or equal"),
        (GOOD | {"temperature": 1}, "temperature"),
        (GOOD | {"system": [{"type": "text", "text": f"{n}"} | MARK for n in range(5)]}, "maximum of 4 blocks"),
        (GOOD | {"system": [{"type": "text", "text": " "}]}, "non-whitespace"),
        (GOOD | {"stop_sequences": ["\n"]}, "non-whitespace"),
        (GOOD | {"tools": [{"name": "a b", "input_schema": {}}]}, "tools.0"),
        (said(), "at least one message"),
        (said(("assistant", "a")), "roles must alternate"),
        (said(("user", "a"), ("user", "b")), "roles must alternate"),
        (said(("system", "a")), "Input should be"),
        (said(("user", [])), "non-empty content"),
        (said(("user", [{"type": "text", "text": ""}])), "non-whitespace"),
        (said(("user", "q"), ("assistant", [USE]), ("user", "x")), "without `tool_result`"),
        (said(("user", [RESULT])), "unexpected `tool_use_id`"),
        (said(("user", "q"), ("assistant", [USE]), ("user", [{"type": "text", "text": "x"}, RESULT])), "come first"),
        (said(("user", "q"), ("assistant", [USE | {"input": None}]), ("user", [RESULT])), "valid dictionary"),
        (said(("user", "q"), ("assistant", "a")), "prefill"),
        (said(("user", "long " * 2000)), "prompt is too long"),
    ],
)
def test_bad_requests_are_refused(body: Any, reason: str) -> None:
    assert reason in (refusal(body, 1000) or "")


def test_the_cache_reads_exactly_what_was_written() -> None:
    cache = PrefixCache()

    def ask(*texts: str, marked: int) -> dict[str, int]:
        content = [{"type": "text", "text": text} | (MARK if n == marked else {}) for n, text in enumerate(texts)]
        return cache.usage(said(("user", content)), 1)

    first = ask("a" * 400, "b" * 400, marked=1)
    assert first["cache_read_input_tokens"] == 0
    again = ask("a" * 400, "b" * 400, "c" * 400, marked=2)
    assert again["cache_read_input_tokens"] == first["cache_creation_input_tokens"] > 200
    assert ask("A" * 400, "b" * 400, marked=1)["cache_read_input_tokens"] == 0


def test_every_fault_has_a_name() -> None:
    assert len(FAULTS) == 17
    for name in (*FAULTS, *MORE_FAULTS):
        assert isinstance(fault(name), VendorReply)
    with pytest.raises(ValueError, match="unknown fields"):
        VendorReply.of({"txt": "x"})


async def exchange(port: int, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    data = b"" if body is None else json.dumps(body).encode()
    writer.write(f"{method} {path} HTTP/1.1\r\nx-api-key: k\r\ncontent-length: {len(data)}\r\n\r\n".encode() + data)
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    answer = json.loads(await reader.readexactly(length))
    writer.close()
    return int(head.split()[1]), answer


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
        assert (await exchange(port, "POST", "/v1/messages/count_tokens", GOOD))[1]["input_tokens"] > 0
        assert (await exchange(port, "GET", "/v1/nothing"))[0] in {400, 404}
        captured = (await exchange(port, "GET", "/control/requests"))[1]
        assert json.loads(captured[0]["body"]) == GOOD
        assert captured[0]["first_byte"] <= captured[0]["last_byte"] <= captured[0]["answer_last_byte"]
    finally:
        program.terminate()
        await program.wait()
