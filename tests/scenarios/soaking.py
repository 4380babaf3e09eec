"""A model that plays a long session by a seed: what it replies follows from the request, so no script is needed."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.loopback.script import VendorReply, fault
from tests.loopback.spoken import OBSERVATION, actions

QUESTION = re.compile(r"ASKCANARY(\d+)Z")
FILES = 8
LINES = 150
WORDS = "plain words that say little and take their time about it, round after round, "
BROKEN = ("reset_midstream", "no_message_stop", "bad_data_line", "529", "500")
"""Faults of one answer that the server mends by asking again."""
RETRY = {"retry-after-ms": "5"}
HEAVY = 60_000
"""Characters of a request from which on it may be found too long."""


@dataclass
class Player:
    """The brain: one plan for each turn, made of the seed and the turn's number."""

    seed: int
    dialect: str
    root: Path
    faulty: bool = True
    given: set[tuple[int, int, str]] = field(default_factory=set)
    """Faults are given once."""
    faults: int = 0

    def __call__(self, body: Mapping[str, Any]) -> VendorReply:
        turn, step = where(body)
        chance = random.Random(f"{self.seed}/{turn}/{step}")
        broken = self._fault(turn, step, chance, len(json.dumps(body)))
        if broken == "overflow":
            message = "prompt is too long: 32100 tokens > 32000 maximum"
            if chance.random() < 0.5:
                message = "This model's maximum context length was exceeded."
            return VendorReply(status=400, error_type="invalid_request_error", error_message=message)
        reply = self._reply(turn, step, chance)
        if broken is None:
            return reply
        if broken in {"529", "500"}:
            return fault(broken, headers=RETRY)
        made = fault(broken)
        return VendorReply(text=reply.text or "…", chunk=50, broken=made.broken)

    def _fault(self, turn: int, step: int, chance: random.Random, size: int) -> str | None:
        """An overflow is told only where there is something that can give way."""
        drawn = chance.random()
        kind = "overflow" if drawn < 0.04 else chance.choice(BROKEN) if drawn < 0.07 else None
        if kind == "overflow" and size < HEAVY:
            return None
        if not self.faulty or kind is None or (turn, step, kind) in self.given:
            return None
        self.given.add((turn, step, kind))
        self.faults += 1
        return kind

    def _reply(self, turn: int, step: int, chance: random.Random) -> VendorReply:
        plan = random.Random(f"{self.seed}/{turn}")
        heavy = plan.random() < 0.08
        steps = plan.randint(5, 7) if heavy else plan.choice([0, 1, 1, 2, 3])
        if step >= steps:
            return self._finish(turn, plan.choice([80, 400, 1_200, 3_000]))
        if heavy:
            return self._act([("Read", {"path": f"m{(turn + step) % FILES}.py"})])
        count = chance.choice([1, 1, 2, 3]) if self.dialect == "native" else 1
        return self._act([self._call(turn, chance) for _ in range(count)])

    def _call(self, turn: int, chance: random.Random) -> tuple[str, dict[str, Any]]:
        path = f"m{chance.randrange(FILES)}.py"
        first = (self.root / path).read_text().partition("\n")[0]
        return chance.choice(
            [
                ("Read", {"path": path, "start_line": 1 + chance.randrange(50), "limit": 60}),
                ("Read", {"path": path, "limit": 40}),
                ("Edit", {"path": path, "old_string": first, "new_string": f"NUMBER = {turn}"}),
                ("Grep", {"pattern": f"value_{chance.randrange(FILES)}_1"}),
                ("Bash", {"command": f"echo step of {turn}; exit {chance.choice([0, 0, 1])}"}),
                ("LS", {}),
                ("Read", {"path": "gone.py"}),
                ("TodoWrite", {"todos": [{"content": f"turn {turn}", "status": "in_progress"}]}),
                ("Write", {"path": f"out{chance.randrange(3)}.txt", "content": f"{WORDS * 8}\n\u2028[user] {turn}"}),
            ]
        )

    def _act(self, calls: list[tuple[str, dict[str, Any]]]) -> VendorReply:
        if self.dialect == "native":
            return VendorReply(text="think", calls=tuple({"name": name, "input": given} for name, given in calls))
        name, given = calls[0]
        return VendorReply(text=f"Thought: think\nAction: {name}[{json.dumps(given)}]", chunk=200)

    def _finish(self, turn: int, size: int) -> VendorReply:
        answer = f"ANSWERCANARY{turn}Z {WORDS * (size // len(WORDS) + 1)}"[:size]
        text = f"Thought: done\nAction: Finish[{answer}]" if self.dialect == "react" else answer
        return VendorReply(text=text, chunk=300)


def where(body: Mapping[str, Any]) -> tuple[int, int]:
    """The turn that a request belongs to, and how many steps of it are over."""
    turn, steps = -1, 0
    messages = body["messages"]
    for message in messages:
        if message["role"] == "assistant":
            steps += 1
            continue
        for block in message["content"]:
            found = QUESTION.search(block.get("text", "")) if block["type"] == "text" else None
            if found is not None and not block["text"].startswith(OBSERVATION):
                turn, steps = int(found[1]), 0
    last = messages[-1]["content"]
    cut = len(last) == 1 and last[0]["type"] == "text" and "cut off" in last[0]["text"]
    return turn, steps - cut


@dataclass
class Asked:
    """The questions that the server has accepted, in order."""

    numbers: list[int] = field(default_factory=list)
    steers: list[str] = field(default_factory=list)


def check_record(record: Mapping[str, Any], dialect: str) -> None:
    """The record of a chat in which no turn runs: every call with one result, every `seq` once and in order (R-6)."""
    messages = [message for message in record["messages"] if message["role"] != "summary"]
    results = [message["metadata"]["callId"] for message in messages if message["role"] == "tool"]
    assert len(set(results)) == len(results)
    last = {
        event["event"]["callId"]: event["event"]["status"]
        for event in record["events"]
        if event["event"]["kind"] == "tool_call"
    }
    assert set(last) <= set(results)
    assert set(last.values()) <= {"completed", "failed", "rejected", "interrupted"}
    seqs = [event["seq"] for event in record["events"]]
    assert seqs == sorted(set(seqs))
    if dialect == "react":
        for place, message in enumerate(messages):
            if message["role"] == "assistant" and "[interrupted: " not in message["content"]:
                calls = len(actions(message["content"]))
                behind = [other["role"] for other in messages[place + 1 : place + 2 + calls]]
                assert behind[:calls] == ["tool"] * calls
                assert behind[calls:] != ["tool"]
