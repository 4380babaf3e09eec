"""The effort that is chosen, for a chat, by a command's head or a subagent's, and what is said to the model (P-6)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from codelaw.domain.errors import Refusal
from codelaw.domain.extensions import AgentSheet
from codelaw.domain.models import Delta, Heard, ModelReply, ModelRequest, Usage
from codelaw.ports.model import ChatModel
from tests.agent.conftest import Bench

NAME = "claude-sonnet-4-6"
"""It takes low, medium, high, which is its default, and max; no xhigh."""


class Listener:
    """A model in front of another that keeps what was asked."""

    def __init__(self, behind: ChatModel) -> None:
        self._behind = behind
        self.asked: list[ModelRequest] = []

    async def reply(self, request: ModelRequest, on_delta: Callable[[Delta], Heard]) -> ModelReply:
        self.asked.append(request)
        return await self._behind.reply(request, on_delta)

    async def count(self, request: ModelRequest) -> int | None:
        return await self._behind.count(request)

    async def fill(self, request: ModelRequest) -> Usage | None:
        return await self._behind.fill(request)

    async def warm(self) -> None:
        await self._behind.warm()

    async def close(self) -> None:
        await self._behind.close()

    @property
    def efforts(self) -> list[str | None]:
        return [request.effort for request in self.asked]


async def heard(bench: Bench, **model: str) -> Listener:
    """A session in front of whose model one listens."""
    await bench.reopen(model={"name": NAME, **model})
    listener = Listener(bench.session.resources.chats.models.of("anthropic"))
    bench.session.resources.chats.models._made["anthropic"] = listener
    return listener


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


async def test_the_setting_holds_until_a_chat_has_its_own(bench: Bench):
    listener = await heard(bench, effort="low")
    chat = (await bench.turn("go", replies=[bench.finish("ok", times=0)])).chat_id
    await bench.turn("go", chat, effort="max")
    await bench.turn("go", chat)
    assert (await bench.session.update(chat, effort="default")).effort is None
    await bench.turn("go", chat)
    assert listener.efforts == ["low", "max", "max", "low"]


async def test_what_the_model_does_not_take_is_refused_with_what_it_takes(bench: Bench):
    await heard(bench)
    chat = (await bench.turn("go", replies=[bench.finish("ok", times=0)])).chat_id
    for refused in (
        bench.session.update(chat, effort="xhigh"),
        bench.session.send(chat, "go", effort="xhigh"),
        bench.session.send(None, "go", effort="xhigh"),
        bench.session.create(effort="xhigh"),
        bench.session.create(model="claude-haiku-4-5", effort="low"),
    ):
        with pytest.raises(Refusal) as raised:
            await refused
        assert raised.value.code == "effort_not_taken"
    with pytest.raises(Refusal, match="does not take the effort xhigh, only low, medium, high, max"):
        await bench.session.send(chat, "go", effort="xhigh")
    assert [one.id for one in (await bench.session.list(None, 9, None))[0]] == [chat], "no chat was made for it"
    assert (await bench.turn("go", chat)).stop_reason == "finished", "nor is one left busy"


@pytest.mark.parametrize("path", [".codelaw/commands/hard.md", ".codelaw/skills/hard/SKILL.md"])
async def test_the_head_of_what_a_message_calls_decides_for_its_turn(
    bench: Bench, path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    write(bench.root, path, "---\ndescription: x\neffort: max\n---\nThink hard.")
    listener = await heard(bench, effort="low")
    chat = (await bench.turn("/hard", replies=[bench.finish("ok", times=0)])).chat_id
    await bench.turn("go", chat)
    assert listener.efforts == ["max", "low"]


async def test_a_subagent_has_the_effort_of_its_head(bench: Bench):
    for name, head in (("deep", "effort: max"), ("same", ""), ("other", "model: claude-sonnet-5-5")):
        write(bench.root, f".codelaw/agents/{name}.md", f"---\ndescription: x\n{head}\n---\nBe brief.\n")
    listener = await heard(bench, effort="low")
    for name in ("deep", "same", "other"):
        bench.vendor.play(
            bench.act("Task", {"kind": name, "prompt": "x"}), bench.finish("brief"), bench.finish("Done.")
        )
        await bench.turn("Go.")
    assert listener.efforts == ["low", "max", "low", "low", "low", "low", "low", None, "low"]
    listed = {one.name: one.effort for one in (await bench.session.agents()).agents if isinstance(one, AgentSheet)}
    assert listed == {"deep": "max", "other": None, "same": None}


@pytest.mark.parametrize("dialect", ["native"], indirect=True)
async def test_the_profile_decides_how_it_thinks_in_every_request_of_a_turn(bench: Bench):
    listener = await heard(bench, name="claude-sonnet-5-5")
    write(bench.root, "a.txt", "x")
    bench.vendor.play(bench.act("Read", {"path": "a.txt"}), bench.finish("ok"))
    await bench.turn("go")
    assert [(one.thinking, one.display) for one in listener.asked] == [("adaptive", "updates")] * 2
