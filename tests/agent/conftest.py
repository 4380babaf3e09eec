"""A session on real parts: SQLite, the disk, and a vendor on loopback; in either dialect."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from codelaw.domain.chats import TurnResult
from codelaw.domain.events import AnswerDelta, ChatEvent, RetryEvent, ThoughtDelta
from codelaw.domain.files import Folder
from codelaw.settings.effective import load_settings
from tests.fakes.editor import Buffers, User
from tests.fakes.flat_session import Session
from tests.fakes.fresh_store import put_store
from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor, Scripted


@dataclass
class Bench:
    """What a scenario plays with."""

    dialect: str
    root: Path
    home: Path
    vendor: LoopbackVendor
    session: Session
    buffers: Buffers = field(default_factory=Buffers)
    user: User = field(default_factory=User)
    events: list[ChatEvent] = field(default_factory=list)
    model: str = "claude-sonnet-4-5"

    def act(self, tool: str, arguments: dict[str, Any] | str, thought: str = "think", **more: Any) -> VendorReply:
        """A reply that calls a tool, in the bench's dialect; arguments given as text are sent as they are."""
        raw = arguments if isinstance(arguments, str) else json.dumps(arguments)
        if self.dialect == "react":
            return VendorReply(text=f"Thought: {thought}\nAction: {tool}[{raw}]", **more)
        return VendorReply(text=thought, calls=({"name": tool, "json": raw},), **more)

    def finish(self, answer: str, thought: str = "done", **more: Any) -> VendorReply:
        """A reply that ends the turn."""
        text = f"Thought: {thought}\nAction: Finish[{answer}]" if self.dialect == "react" else answer
        return VendorReply(text=text, **more)

    async def turn(
        self, text: str, chat_id: str | None = None, *, replies: Sequence[Scripted] | None = None, **more: Any
    ) -> TurnResult:
        """A turn to its end; the vendor forgets what it has, and gives these replies."""
        if replies is not None:
            self.vendor.reset(replies)
        return await (await self.session.send(chat_id, text, **more)).result()

    def kinds(self, *kinds: str) -> list[Any]:
        return [event.event for event in self.events if event.event.kind in kinds]

    def shown(self, kind: str) -> str:
        """The joined deltas of a kind, the withdrawn ones left out."""
        pieces: list[tuple[int, str]] = []
        for event in self.events:
            match event.event:
                case RetryEvent(step=step):
                    pieces = [piece for piece in pieces if piece[0] != step]
                case (ThoughtDelta() | AnswerDelta()) as delta if delta.kind == kind:
                    pieces.append((delta.step, delta.delta))
                case _:
                    pass
        return "".join(text for _, text in pieces)

    def sent(self, number: int = -1) -> dict[str, Any]:
        return self.vendor.messages[number].json

    async def reopen(self, around: dict[str, Any] | None = None, **settings: Any) -> None:
        """Another session on the same home and workspace, as after a restart; `around` it is what its editor has."""
        await self.session.close()
        self.session = await open_session(self, settings, **(around or {}))


async def open_session(bench: Bench, settings: dict[str, Any], **around: Any) -> Session:
    client: dict[str, Any] = {
        "model": {
            "baseUrl": bench.vendor.url,
            "apiKey": "sk-test",
            "dialect": bench.dialect,
            "name": bench.model,
        },
        "memory": {"timeoutMs": 20_000},  # a busy machine takes longer than half a second to look something up
    }
    for group, values in settings.items():
        client[group] = {**client.get(group, {}), **values}
    effective = load_settings(environ={}, client=client)
    assert effective.problems == []
    if not (bench.home / "codelaw.db").exists():
        await put_store(bench.home / "codelaw.db")
    return await Session.open(
        settings=effective,
        folders=[Folder(bench.root.name, bench.root, bench.root.as_uri())],
        documents=bench.buffers,
        approver=bench.user,
        emit=bench.events.append,
        home=bench.home,
        **around,
    )


@pytest.fixture(params=["native", "react"])
def dialect(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
async def bench(dialect: str, tmp_path: Path, home: Path) -> AsyncIterator[Bench]:
    root = tmp_path / "work"
    root.mkdir()
    async with LoopbackVendor() as vendor:
        made = Bench(dialect, root, home, vendor, None)  # type: ignore[arg-type]
        made.session = await open_session(made, {})
        yield made
        await made.session.close()
