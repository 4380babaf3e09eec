"""Hygiene of a long history: one that is well-formed, as nearly all are, and one that is not (H-1)."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Sequence
from dataclasses import replace

import client
from client import median, quantile, table

from codelaw.domain.messages import Call, Message, Metadata
from codelaw.transcript.repair.hygiene import hygiene
from codelaw.transcript.repair.repairs import Repairs

MESSAGES = 5_000
REPEATS = 50


def history() -> list[Message]:
    """Turns of a question, three steps with two Reads each in parallel, a reminder, and an answer."""
    found: list[Message] = []
    body = "\n".join(f"{line:>4}\tvalue_{line} = compute({line})" for line in range(100))
    for number in range(MESSAGES):
        turn = f"t{number}"
        found.append(Message(f"ask_{turn}", turn, "user", f"What does m{number} do — and why?"))
        for step in range(1, 4):
            calls = tuple(
                Call(f"{turn}_{step}_{n}", "Read", {"path": f"src/m{n}.py", "offset": 1, "limit": 100}) for n in (0, 1)
            )
            found.append(Message(f"say_{turn}_{step}", turn, "assistant", "look", Metadata(step=step, calls=calls)))
            for call in calls:
                observed = {"status": "success", "data": {"path": "é.py", "content": body}, "ref": f"r{len(found)}"}
                kept = Metadata(step=step, tool_name="Read", call_id=call.id, mtime=1.5, ref=f"r{len(found)}")
                content = json.dumps(observed, ensure_ascii=False)
                found.append(Message(f"result_{call.id}", turn, "tool", content, kept))
        found.append(Message(f"reminder_{turn}", turn, "user", "m changed", Metadata(step=3, note="reminder")))
        found.append(Message(f"end_{turn}", turn, "assistant", "It is so.", Metadata(step=4, answer="It is so.")))
        if len(found) >= MESSAGES:
            break
    return found


def broken(messages: Sequence[Message]) -> list[Message]:
    """One message in five lost, doubled, displaced or damaged."""
    chance = random.Random(7)
    found: list[Message] = []
    for message in messages:
        odd = message
        match chance.randrange(30):
            case 0 if message.role == "tool":
                continue
            case 1:
                found.append(message)
            case 2:
                found.insert(max(0, len(found) - chance.randrange(6)), message)
                continue
            case 3:
                odd = replace(odd, content="")
            case 4 if message.metadata.calls:
                calls = tuple(replace(call, id="call:1") for call in message.metadata.calls)
                odd = replace(odd, metadata=replace(odd.metadata, calls=calls))
            case 5:
                odd = replace(odd, id="same")
        found.append(odd)
    return found


def measured(messages: Sequence[Message], limit: int = 0) -> tuple[list[float], str]:
    """Milliseconds of each run, and what was done."""
    times: list[float] = []
    done = Repairs()
    for _ in range(REPEATS):
        started = time.perf_counter()
        _, done = hygiene(messages, limit)
        times.append((time.perf_counter() - started) * 1000)
    counts = [f"{name} {count}" for name, count in done.items()]
    return times, ", ".join(counts) or "nothing to do"


def main() -> None:
    healthy = history()
    assert hygiene(healthy)[0] is healthy
    damaged = broken(healthy)
    mended = hygiene(damaged)[0]
    assert hygiene(mended)[0] is mended
    rows: list[tuple[str, str, str]] = []
    notes: list[str] = []
    for name, messages, limit, goal in (
        ("well-formed", healthy, 0, "<= 20 ms"),
        ("well-formed, limited to 100 turns", healthy, 100, "<= 20 ms"),
        ("broken", damaged, 0, ""),
        ("repaired before", mended, 0, "<= 20 ms"),
    ):
        times, done = measured(messages, limit)
        rows.append((f"{name}: median", f"{median(times):.1f} ms", goal))
        rows.append((f"{name}: p99", f"{quantile(times, 0.99):.1f} ms", ""))
        notes.append(f"{name} ({len(messages)} messages): {done}")
    size = sum(len(message.content) for message in healthy)
    table(f"Hygiene of {len(healthy)} messages, {size / 1e6:.1f} million characters", rows)
    print("\n".join(notes))


if __name__ == "__main__":
    assert client.ROOT
    main()
