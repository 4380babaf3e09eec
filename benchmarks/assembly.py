"""Building and spelling a large view, and the size of L1 (L-2, L-5)."""

from __future__ import annotations

import asyncio
import json
import time

import client
from client import median, quantile, table

from codelaw.agent.dialects.native import Native
from codelaw.agent.dialects.react import React
from codelaw.context.builder import Gathered, History, build
from codelaw.context.sections import text_section
from codelaw.context.system.modules import system_sections
from codelaw.domain.messages import Call, Message, Metadata
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
        text = "\n\n".join(section.content for section in system) + (json.dumps(schemas) if schemas else "")
        rows.append((f"{dialect.name}: L1 with nine tools", f"{tokens(text)} tokens", L1[dialect.name]))
    table(f"A view of about {size} tokens", rows)


def tokens(text: str) -> int:
    """Exact tokens of o200k, as a stand-in for the model's own count."""
    from codelaw.adapters.tokenizer import load_counter

    return asyncio.run(load_counter())(text)


if __name__ == "__main__":
    assert client.ROOT
    main()
