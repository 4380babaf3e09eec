"""A running command's output: whole characters, whole keys or none, and never more than a screen can take."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from codelaw.agent.turn.live_call import AT_ONCE, IN_ALL, LiveOutput
from codelaw.domain.events import Event, ToolOutputEvent
from codelaw.domain.safety.redaction import Redaction

PEM = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIE abcdefgh\n" * 30 + "-----END RSA PRIVATE KEY-----\n"


@dataclass
class Turn:
    """The part of a running turn that is told of output."""

    step: int = 3
    reported: list[ToolOutputEvent] = field(default_factory=list[ToolOutputEvent])
    halts: dict[str, asyncio.Event] = field(default_factory=dict[str, asyncio.Event])

    def emit(self, event: Event) -> None:
        assert isinstance(event, ToolOutputEvent)
        self.reported.append(event)


async def heard(pieces: Sequence[bytes], *keys: str) -> list[str]:
    """What is told of stdout after each piece, and at the end."""
    turn = Turn()
    live = LiveOutput(turn, "call", Redaction(dict.fromkeys(keys, "a key")))  # type: ignore[arg-type]
    said: list[str] = []
    for piece in pieces:
        live.heard("stdout", piece)
        live._report()
        said.append("".join(event.delta for event in turn.reported))
        turn.reported.clear()
    live.heard("stdout", b"")
    live.close()
    assert {(event.call_id, event.stream, event.step) for event in turn.reported} <= {("call", "stdout", 3)}
    return [*said, "".join(event.delta for event in turn.reported)]


async def test_a_character_that_is_cut_waits_for_its_rest():
    assert await heard(["ä ".encode()[:1], "ä ".encode()[1:]]) == ["", "ä ", ""]
    assert await heard([b"\xff "]) == ["\ufffd ", ""]


async def test_a_word_that_goes_on_waits_and_is_told_at_the_end():
    assert await heard([b"one tw", b"o thr", b"ee"]) == ["one ", "two ", "", "three"]


async def test_a_key_is_never_told_in_parts():
    assert await heard([b"x sk-ant-abcdefgh", b"ijklmnop12345 y\n"]) == ["x ", "[redacted: anthropic key] y\n", ""]
    assert await heard([b"my S3cret wo", b"rd stays\n"], "my S3cret word") == ["", "[redacted: a key] stays\n", ""]
    half = len(PEM) // 2
    assert await heard([PEM[:half].encode(), PEM[half:].encode()]) == ["", "[redacted: private key]\n", ""]


async def test_a_flood_keeps_its_ends_and_ends_some_time():
    [said, _] = await heard([b"line\n" * 100_000])
    assert len(said) < AT_ONCE + 100
    assert "characters are not shown here" in said
    said = await heard([b"line of some words\n" * 800] * 100)
    assert IN_ALL <= len("".join(said)) <= IN_ALL + AT_ONCE + 100
    assert said[-1] == ""
    assert "the rest stands in the result" in "".join(said)
