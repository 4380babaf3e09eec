"""Long chats on the bench, made quickly, and what their requests must hold."""

from __future__ import annotations

import json
from typing import Any

from codelaw.domain.checkpoints import CompactionReport
from tests.agent.conftest import Bench
from tests.loopback.script import VendorReply
from tests.loopback.spoken import texts_of
from tests.loopback.summaries import HEADING, Summariser

SMALL: dict[str, Any] = {"model": {"contextWindow": 32_000}, "context": {"keepRounds": 4}}
"""A window that a test fills soon."""
HONEST = 2.92
"""Characters of a token, so that the vendor counts about what is estimated."""


def filler(size: int, number: int = 0) -> str:
    """Plain prose of that many characters."""
    words = f"round {number} speaks of plain things in an even voice and goes on for a while "
    return (words * (size // len(words) + 1))[:size]


def ask(number: int) -> str:
    """The user's text of a round, with a word of its own."""
    return f"ASKCANARY{number}Z and what of it?"


def usage(total: int, output: int = 10) -> dict[str, int]:
    """Usage whose four parts add up to `total`, most of it read from the cache (W-1)."""
    written = 100
    read = total - output - written - 500
    assert read >= 0
    parts = {"input_tokens": 500, "cache_creation_input_tokens": written, "cache_read_input_tokens": read}
    return parts | {"output_tokens": output}


async def talk(
    bench: Bench, rounds: int, *, size: int = 3_000, chat: str | None = None, start: int = 0, **more: Any
) -> str:
    """Rounds of `size` characters of answer each; gives the chat. `more` is for the last reply."""
    for number in range(start, start + rounds):
        last = number == start + rounds - 1
        answer = f"ANSWERCANARY{number}Z {filler(size, number)}"
        bench.vendor.play(bench.finish(answer, chunk=4_000, **(more if last else {})))
        result = await bench.turn(ask(number), chat)
        assert result.stop_reason == "finished", result.error
        chat = result.chat_id
    assert chat is not None
    return chat


async def small(bench: Bench, *modes: str, seconds: float = 1.0, **settings: Any) -> Summariser:
    """Give the bench a small window and a summariser of that temper; gives the summariser."""
    bench.vendor.characters = HONEST
    bench.vendor.summariser = summariser = Summariser(*modes, seconds=seconds)
    merged = {group: {**values} for group, values in SMALL.items()}
    for group, values in settings.items():
        merged[group] = {**merged.get(group, {}), **values}
    bench.vendor.window = merged["model"]["contextWindow"]
    bench.vendor.reset()
    await bench.reopen(**merged)
    return summariser


async def due(bench: Bench, rounds: int = 18, **more: Any) -> str:
    """A chat in the small window whose next message sets off a compaction."""
    return await talk(bench, rounds, usage=usage(25_600), **more)


def reports(bench: Bench) -> list[CompactionReport]:
    """The reports of the compactions so far, in order."""
    return [event.report for event in bench.kinds("compaction") if event.report is not None]


def phases(bench: Bench) -> list[str]:
    return [event.phase for event in bench.kinds("compaction")]


def notices(bench: Bench) -> list[tuple[str, str]]:
    """Code and words of every notice so far."""
    return [(event.code, event.message) for event in bench.kinds("notice")]


def said(request: dict[str, Any]) -> str:
    """The messages of a request as one text."""
    return json.dumps(request["messages"], ensure_ascii=False)


def system(request: dict[str, Any]) -> str:
    return json.dumps(request["system"], ensure_ascii=False)


def whole(request: dict[str, Any]) -> str:
    return system(request) + said(request)


def asked_in(request: dict[str, Any], most: int = 400) -> list[int]:
    """The rounds whose question stands in a request, in order of their number; each must stand there once."""
    text = said(request)
    counts = {number: text.count(f"ASKCANARY{number}Z") for number in range(most)}
    assert set(counts.values()) <= {0, 1}, counts
    return [number for number, count in counts.items() if count]


def user_texts(request: dict[str, Any]) -> list[str]:
    """What users said, in order; observations are left out."""
    texts = [text for message in request["messages"] if message["role"] == "user" for text in texts_of(message)]
    return [text for text in texts if not text.startswith("[tool] ")]


def ends_with(request: dict[str, Any], number: int) -> bool:
    """Whether the question of that round is the last of the questions, once."""
    places = [text for text in user_texts(request) if "CANARY" in text]
    return f"ASKCANARY{number}Z" in places[-1] and sum(f"ASKCANARY{number}Z" in text for text in places) == 1


def is_summary(request: dict[str, Any]) -> bool:
    return HEADING in texts_of(request["messages"][-1])[-1]


def plain(value: Any) -> Any:
    """Without the marks of the cache, which move."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items() if key != "cache_control"}
    return [plain(inner) for inner in value] if isinstance(value, list | tuple) else value


def blocks(request: dict[str, Any]) -> list[str]:
    """The prompt block by block, as a cache reads it."""
    spoken = [(message["role"], block) for message in request["messages"] for block in message["content"]]
    return [json.dumps(plain(part)) for part in [request.get("tools"), *request["system"], *spoken]]


def fine(bench: Bench) -> None:
    """The vendor had nothing to refuse."""
    assert bench.vendor.refused == []


def quiet(reply: VendorReply) -> VendorReply:
    """The same reply, as often as it is wanted."""
    return VendorReply(text=reply.text, calls=reply.calls, times=0, chunk=4_000)
