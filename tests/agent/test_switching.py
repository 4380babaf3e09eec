"""One chat goes to and fro between vendors, wires, an editor's model and none, at random; nobody refuses (P-4, P-5).

Each fake is as strict as its vendor: it refuses what another one has signed, calls without results, and fields that it
does not know. `CODELAW_TEST_SWITCHES` says how often the chat is switched.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from codelaw.domain.files import Folder
from codelaw.domain.messages import Call
from codelaw.domain.models import ApiMessage, CallBlock, ResultBlock, StopReason, TextBlock, TextDelta, ToolSchema
from codelaw.domain.presets import PRESETS
from codelaw.ports.lending import LentOffer, Part
from codelaw.settings.effective import load_settings
from tests.fakes.editor import Buffers, User
from tests.fakes.flat_session import Session
from tests.fakes.fresh_store import put_store
from tests.fakes.lending import check
from tests.loopback.claude import Account
from tests.loopback.completions import CompletionsVendor
from tests.loopback.responses import ResponsesVendor
from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor

SWITCHES = int(os.environ.get("CODELAW_TEST_SWITCHES", "40"))


@dataclass
class Lending:
    """The editor's side of the port; as strict as the strictest provider."""

    script: list[VendorReply] = field(default_factory=list[VendorReply])
    asked: list[str] = field(default_factory=list[str])

    def play(self, *replies: VendorReply) -> None:
        self.script[:] = replies

    async def offers(self) -> Sequence[LentOffer]:
        return [LentOffer("copilot/gpt-x", "GPT X", "gpt", 900_000)]

    async def ask(
        self, model: str, messages: Sequence[ApiMessage], tools: Sequence[ToolSchema], heard: Callable[[Part], None]
    ) -> StopReason:
        check([{"role": one.role, "parts": [_part(block) for block in one.blocks]} for one in messages])
        self.asked.append(repr(messages))
        reply = self.script.pop(0)
        heard(TextDelta(reply.text))
        for call in reply.calls:
            heard(Call(f"lent_{uuid4().hex[:8]}", call["name"], json.loads(call["json"])))
        return "end_turn"


def _part(block: Any) -> dict[str, Any]:
    match block:
        case TextBlock(words):
            return {"kind": "text", "text": words}
        case CallBlock(call):
            return {"kind": "call", "callId": call.id}
        case ResultBlock(call_id):
            return {"kind": "result", "callId": call_id}
        case _:
            raise AssertionError(f"{block} is nothing that an editor passes on")


@dataclass
class Party:
    """Who answers one model."""

    play: Callable[..., None]
    """What it says next, one by one."""
    sent: Callable[[], str]
    """The whole of what it was sent last."""


@dataclass
class Town:
    """Everybody who may answer, by the name that is chosen."""

    session: Session
    dialect: str
    root: Path
    parties: dict[str, Party]
    chance: random.Random

    def act(self, *paths: str, **more: Any) -> VendorReply:
        """Reads files; the text dialect one of them."""
        if self.dialect == "react":
            return VendorReply(text=f'Thought: I look.\nAction: Read[{{"path": "{paths[0]}"}}]', **more)
        calls = [{"name": "Read", "json": json.dumps({"path": path})} for path in paths]
        return VendorReply(text=self.chance.choice(["", "I look."]), calls=calls, **more)

    def finish(self, answer: str, **more: Any) -> VendorReply:
        text = f"Thought: done\nAction: Finish[{answer}]" if self.dialect == "react" else answer
        return VendorReply(text=text, **more)


@pytest.fixture(params=["native", "react"])
async def town(request: pytest.FixtureRequest, tmp_path: Path, home: Path) -> AsyncIterator[Town]:
    root = tmp_path / "work"
    root.mkdir()
    for name in ("a.txt", "b.txt"):
        (root / name).write_text(f"the text of {name}\n")
    seed, lending, dialect = random.randrange(1 << 30), Lending(), str(request.param)
    print("seed", seed)
    chance = random.Random(seed)
    async with AsyncExitStack() as stack:
        claude = await stack.enter_async_context(LoopbackVendor(account=Account(), window=2_000_000))
        other = await stack.enter_async_context(LoopbackVendor(window=2_000_000))
        openai = await stack.enter_async_context(ResponsesVendor())
        completing = {
            name: await stack.enter_async_context(CompletionsVendor(name)) for name in ("gemini", "mistral", "groq")
        }
        client = {
            "model": {
                "provider": "editor",
                "name": "copilot/gpt-x",
                "dialect": dialect,
                "contextWindow": 900_000,
                "providers": {
                    "anthropic": {"apiKey": "a", "baseUrl": claude.url},
                    "deepseek": {"apiKey": "d", "baseUrl": other.url},
                    "openai": {"apiKey": "o", "baseUrl": openai.url},
                    **{name: {"apiKey": name, "baseUrl": vendor.url} for name, vendor in completing.items()},
                },
            },
            "context": {"maxWindow": 900_000},
            "memory": {"enabled": False},
        }
        effective = load_settings(environ={}, client=client)
        assert effective.problems == []
        await put_store(home / "codelaw.db")
        session = await Session.open(
            settings=effective,
            folders=[Folder(root.name, root, root.as_uri())],
            documents=Buffers(),
            approver=User(),
            emit=lambda _: None,
            home=home,
            lender=lending,
        )
        stack.push_async_callback(session.close)

        def body(vendor: Any) -> str:
            return vendor.messages[-1].body.decode()

        vendors: dict[str, Any] = {
            "anthropic/claude-sonnet-5-5": claude,
            "anthropic/claude-opus-5-5": claude,
            "anthropic/claude-opus-4-5": claude,
            "deepseek/deepseek-v4-pro": other,
            "openai/gpt-6.2-sol": openai,
            "openai/gpt-6.1-terra": openai,
            **{f"{name}/{PRESETS[name].model}": vendor for name, vendor in completing.items()},
        }
        parties = {name: Party(vendor.play, partial(body, vendor)) for name, vendor in vendors.items()}
        lent = Party(lending.play, lambda: lending.asked[-1])
        yield Town(session, dialect, root, {**parties, "editor/copilot/gpt-x": lent}, chance)
        assert claude.refused == other.refused == []
        # What another model of the same maker thought goes along, and the maker leaves out what that one cannot read.
        transformed = {one["reason"] for request in claude.messages for one in request.transformed}
        assert transformed <= {"model_binding_mismatch"}
        # Each endpoint says once what it does not know, or wants of what another model has called.
        refused = [(vendor.url, words) for vendor in (openai, *completing.values()) for words in vendor.refused]
        assert len(refused) == len({*refused})
        assert all("Extra inputs" in words or "thought_signature" in words for _, words in refused)


async def test_a_chat_goes_to_and_fro_between_any_two(town: Town):
    chance, chat, before = town.chance, "", ""
    for turn in range(SWITCHES):
        name = chance.choice([*town.parties])
        party, thought = (
            town.parties[name],
            {"thinking": "Let me see."} if name.startswith(("openai/", "mistral/")) else {},
        )
        files = [chance.sample(["a.txt", "b.txt"], chance.choice([1, 2])) for _ in range(chance.choice([0, 1, 2]))]
        answer = f"answer {turn} of {name}"
        party.play(*(town.act(*paths, **thought) for paths in files), town.finish(answer, **thought))
        result = await (await town.session.send(chat or None, f"question {turn}", model=name)).result()
        assert (result.stop_reason, result.answer, result.error) == ("finished", answer, None), turn
        assert before in party.sent(), turn
        assert not files or "the text of" in party.sent(), turn
        chat, before = result.chat_id, f"answer {turn} of "
