"""Building and spelling a large view, and the size of L1 (L-2, L-5)."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import replace
from typing import Any

import client
from client import median, quantile, table

from codelaw.agent.dialects.native import Native
from codelaw.agent.dialects.react import React
from codelaw.context.builder import Gathered, History, build
from codelaw.context.sections import text_section
from codelaw.context.system.modules import system_sections
from codelaw.domain.messages import Call, Message, Metadata
from codelaw.domain.models import ApiMessage, ModelRequest, TextBlock
from codelaw.tools.toolbox import default_toolbox

TOKENS = 150_000
REPEATS = 50
L1 = {"react": "<= 1300", "native": "<= 1700"}


def history() -> list[Message]:
    """Rounds of a question, a Read and an answer, up to the size wanted."""
    found: list[Message] = []
    body = "\n".join(f"{line}\tvalue_{line} = compute({line})" for line in range(100))
    for number in range(10_000):
        turn = f"t{number}"
        call = Call(f"c{number}", "Read", {"path": f"src/m{number}.py", "limit": 100})
        written = f"Thought: look\nAction: Read[{json.dumps(call.arguments)}]"
        observation = json.dumps({"status": "success", "data": {"path": "src/m.py", "content": body}, "ref": call.id})
        answer = f"It is line {number}."
        closing = Metadata(answer=answer)
        found += [
            Message(f"{turn}-u", turn, "user", f"What does m{number} do?"),
            Message(f"{turn}-a", turn, "assistant", written, Metadata(calls=(call,))),
            Message(f"{turn}-t", turn, "tool", observation, Metadata(tool_name="Read", call_id=call.id, as_text=True)),
            Message(f"{turn}-f", turn, "assistant", f"Thought: done\nAction: Finish[{answer}]", closing),
        ]
        if number % 10 == 0 and (section := History.of(found).rounds) is not None and section.tokens >= TOKENS:
            break
    return found


def main() -> None:
    toolbox = default_toolbox()
    rows: list[tuple[str, str, str]] = []
    size = 0
    messages = history()
    for dialect in (React(), Native()):
        description = dialect.description(toolbox)
        system = system_sections(mode="agent", dialect=dialect.name, tools_description=description)
        rounds = History.of(messages)
        gathered = Gathered(system, (text_section("L2", "law", "# Law\n\nRun the tests.\n" * 20),))
        question = Message("q", "now", "user", "And what is next?")
        times = []
        scratchpad: list[Message] = []
        for number in range(REPEATS):
            call = Call(f"s{number}", "LS", {"path": "."})
            scratchpad.append(Message(f"s{number}a", "now", "assistant", "Thought: more", Metadata(calls=(call,))))
            result = '{"status": "success", "data": {"entries": []}}'
            said = Metadata(tool_name="LS", call_id=call.id, as_text=True)
            scratchpad.append(Message(f"s{number}t", "now", "tool", result, said))
            started = time.perf_counter()
            view = build(rounds, tuple(scratchpad), question, gathered)
            request = dialect.request(view, model="m", max_tokens=1000, toolbox=toolbox)
            times.append((time.perf_counter() - started) * 1000)
            size = view.tokens
        rows += [
            (f"{dialect.name}: first build and spelling", f"{times[0]:.1f} ms", ""),
            (f"{dialect.name}: later ones, median", f"{median(times[1:]):.2f} ms", "<= 20 ms"),
            (f"{dialect.name}: later ones, p99", f"{quantile(times[1:], 0.99):.2f} ms", ""),
        ]
        schemas = [
            {"name": t.name, "description": t.description, "input_schema": t.input_schema} for t in request.tools
        ]
        ours, theirs = asyncio.run(sent(request))
        rows += [
            (f"{dialect.name}: a step's request spelt by us, sent", f"{ours:.2f} ms", ""),
            (f"{dialect.name}: the same walked and spelt by the SDK", f"{theirs:.2f} ms", ""),
            (
                f"{dialect.name}: what the SDK's spelling costs more",
                f"{theirs - ours:.2f} ms",
                "> 2 ms",
            ),
        ]
        text = "\n\n".join(section.content for section in system) + (json.dumps(schemas) if schemas else "")
        rows.append((f"{dialect.name}: L1 with nine tools", f"{tokens(text)} tokens", L1[dialect.name]))
    table(f"A view of about {size} tokens", rows)


async def sent(request: ModelRequest) -> tuple[float, float]:
    """Milliseconds of a step's request through the SDK's client, as we spell it and as the SDK does, without a network.

    The request has two messages more than the one before, as at each step; the SDK's way is given its mapping ready.
    """
    import httpx2
    from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient

    from codelaw.adapters.models.messages.body import BodyWriter
    from codelaw.adapters.models.messages.sdk import RawEvents

    answer = b'event: message_stop\ndata: {"type": "message_stop"}\n\n'
    head = {"content-type": "text/event-stream"}
    transport = httpx2.MockTransport(lambda _: httpx2.Response(200, headers=head, content=answer))
    sdk = AsyncAnthropic(api_key="k", http_client=DefaultAsyncHttpxClient(transport=transport), max_retries=0)
    writer = BodyWriter()

    async def ask(**body: Any) -> None:
        stream = await sdk.post("/v1/messages", cast_to=object, stream=True, stream_cls=RawEvents, **body)
        async with stream:
            assert [name async for name, _ in stream] == ["message_stop"]

    times: tuple[list[float], list[float]] = ([], [])
    for number in range(REPEATS):
        said = (
            ApiMessage("assistant", (TextBlock(f"step {number}"),)),
            ApiMessage("user", (TextBlock("result " * 200),)),
        )
        request = replace(request, messages=(*request.messages, *said))
        mapping = json.loads(BodyWriter().write(request))
        started = time.perf_counter()
        await ask(content=writer.write(request))
        times[0].append((time.perf_counter() - started) * 1000)
        started = time.perf_counter()
        await ask(body=mapping)
        times[1].append((time.perf_counter() - started) * 1000)
    await sdk.close()
    return median(times[0][1:]), median(times[1][1:])


def tokens(text: str) -> int:
    """Exact tokens of o200k, as a stand-in for the model's own count."""
    from codelaw.adapters.tokenizer import load_counter

    return asyncio.run(load_counter())(text)


if __name__ == "__main__":
    assert client.ROOT
    main()
