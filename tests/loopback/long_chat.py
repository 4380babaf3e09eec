"""A chat of many messages in a store, without a model and without waiting for one.

    python -m tests.loopback.long_chat HOME [--turns 500]      (HOME is a CODELAW_HOME; prints the number of messages)

Each turn has four messages: the question, a call, its result, and an answer with some Markdown in it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from pathlib import Path

from codelaw.adapters.stores.opening import open_stores
from codelaw.domain.chats import Chat, StoredTurn, TurnResult
from codelaw.domain.events import AnswerDelta, ThoughtDelta, ToolCallEvent, TurnEnded, TurnStarted
from codelaw.domain.messages import Call, Message, Metadata
from codelaw.domain.models import Usage
from codelaw.ports.store import ChatStore

TITLE = "A very long chat"


def answer(number: int) -> str:
    code = "\n".join(f"    value_{line} = {number} * {line}" for line in range(8))
    return f"Answer **{number}**: see `src/a.py:{number}`.\n\n- one\n- two\n\n```python\ndef f():\n{code}\n```\n"


async def turn(store: ChatStore, chat: Chat, number: int) -> None:
    name, call = f"turn{number}", f"call{number}"
    at = chat.created_at + number
    running = StoredTurn(name, chat.id, "running", "long_chat", at)
    question = f"Question {number}: what does src/a.py do in line {number}?"
    calls = (Call(call, "Read", {"path": "src/a.py"}),)
    await store.begin_turn(running, Message(f"{name}-1", name, "user", question, Metadata()))
    await store.append(
        chat.id,
        [
            Message(f"{name}-2", name, "assistant", "I read it.", Metadata(step=1, calls=calls)),
            Message(f"{name}-3", name, "tool", json.dumps({"content": "x = 1\n" * 20}), Metadata(step=1, call_id=call)),
        ],
    )
    said = Message(f"{name}-4", name, "assistant", answer(number), Metadata(step=2, answer=answer(number)))
    ended = StoredTurn(name, chat.id, "ended", "long_chat", at, stop_reason="finished")
    await store.end_turn(ended, [said])
    result = TurnResult(chat.id, name, "finished", answer(number), 2, Usage())
    events = [
        TurnStarted(question),
        ThoughtDelta("I read it.", 1),
        ToolCallEvent(call, "Read", "Read src/a.py", "completed", 1, summary="20 lines"),
        AnswerDelta(answer(number), 2),
        TurnEnded(result),
    ]
    await store.append_events(chat.id, name, [(at, event) for event in events])


async def fill(home: Path, turns: int) -> None:
    store = (await open_stores(None, home / "codelaw.db")).chats
    now = time.time() - turns
    chat = Chat("long", TITLE, "panel", "agent", "claude", "layered", now, now + turns)
    await store.create(chat)
    for number in range(1, turns + 1):
        await turn(store, chat, number)
    await store.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("home", type=Path)
    parser.add_argument("--turns", type=int, default=500)
    options = parser.parse_args()
    asyncio.run(fill(options.home, options.turns))
    print(4 * options.turns)
    return 0


if __name__ == "__main__":
    sys.exit(main())
