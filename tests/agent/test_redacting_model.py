"""The line to the model looks at each text once, however many steps send it (S-5)."""

from __future__ import annotations

import pytest

from codelaw.agent.model_calls.redacting_model import RedactingModel
from codelaw.domain.messages import Call
from codelaw.domain.models import (
    ApiMessage,
    Block,
    CallBlock,
    ModelReply,
    ModelRequest,
    ResultBlock,
    TextBlock,
    Usage,
)
from codelaw.domain.safety.redaction import Redaction

KEY, LATER = "k3y-0f-the-first-0ne-77", "an0ther-k3y-that-came-8"


class Model:
    """Keeps what it is asked."""

    def __init__(self) -> None:
        self.asked: list[ModelRequest] = []

    async def reply(self, request: ModelRequest, on_delta: object) -> ModelReply:
        self.asked.append(request)
        return ModelReply("yes", "end_turn")

    async def fill(self, request: ModelRequest) -> Usage | None:
        self.asked.append(request)
        return None

    async def count(self, request: ModelRequest) -> int | None:
        self.asked.append(request)
        return 7

    async def warm(self) -> None:
        """Nothing to load."""

    async def close(self) -> None:
        """Nothing to give back."""


def said(text: str) -> ApiMessage:
    return ApiMessage("user", (TextBlock(text),))


def request(messages: list[ApiMessage]) -> ModelRequest:
    return ModelRequest("m", (TextBlock("be good"),), tuple(messages), 100)


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that were looked through."""
    seen: list[str] = []
    text = Redaction.text

    def counted(self: Redaction, value: str, *, shapes: bool = False) -> str:
        seen.append(value)
        return text(self, value, shapes=shapes)

    monkeypatch.setattr(Redaction, "text", counted)
    return seen


async def test_a_step_costs_what_it_adds(looked: list[str]) -> None:
    model, redaction = Model(), Redaction({KEY: "model.apiKey"})
    line, messages = RedactingModel(model, redaction), [said(f"message {number} {KEY}") for number in range(300)]
    await line.reply(request(messages), lambda _: None)
    looked.clear()
    messages.append(said(f"one more {LATER}"))
    await line.reply(request(messages), lambda _: None)
    assert len(looked) < 20
    assert len(model.asked[-1].messages) == 301
    assert KEY not in str(model.asked)
    assert model.asked[0].messages[0] is model.asked[1].messages[0], "so that it is not spelt again either"

    redaction.learn({LATER: "embedding.apiKey"})
    await line.reply(request(messages), lambda _: None)
    assert LATER not in str(model.asked[-1])
    assert KEY not in str(model.asked[-1])


@pytest.mark.parametrize(
    "block",
    [
        TextBlock(f"a {KEY}"),
        ResultBlock("c1", f"a {KEY}"),
        ResultBlock(KEY, "a"),
        CallBlock(Call("c1", "Bash", {"command": f"echo {KEY}"})),
        CallBlock(Call("c1", "Bash", {"deep": [1, None, {"er": [f"echo {KEY}"]}]})),
        CallBlock(Call("c1", "Bash", {KEY: True})),
        CallBlock(Call(KEY, "Bash", {})),
        CallBlock(Call("c1", KEY, {})),
    ],
)
async def test_a_key_is_found_wherever_it_stands_in_a_long_request(block: Block) -> None:
    model, messages = Model(), [said(f"message {number}") for number in range(300)]
    messages[150] = ApiMessage("assistant", (TextBlock("see"), block))
    await RedactingModel(model, Redaction({KEY: "model.apiKey"})).reply(request(messages), lambda _: None)
    sent = model.asked[0].messages
    assert KEY not in str(sent)
    assert "[redacted: model.apiKey]" in str(sent[150])
    assert sent[:150] + sent[151:] == tuple(messages[:150] + messages[151:])
