"""What servers ask in the middle of a call, and what they are told (X-3)."""

from __future__ import annotations

from typing import Any

import pytest

from codelaw.agent.turn.live_call import IN_WORDS, answer, form
from codelaw.domain.permissions import ApprovalAnswer
from codelaw.domain.served import Offer, ServedTool, ServerAnswer, ServerQuestion
from tests.agent.conftest import Bench
from tests.agent.test_control import until
from tests.agent.test_servers import MINE, reopen
from tests.fakes.servers import FakeServers


def asks(properties: dict[str, Any] | None = None, message: str = "Which one?") -> ServerQuestion:
    return ServerQuestion("desk", message, None if properties is None else {"properties": properties})


def chosen(question: ServerQuestion, title: str, comment: str = "") -> ServerAnswer:
    """What the server is told when the user chooses the option with that title."""
    put = form(question)
    assert put is not None
    option = next(option for option in put.options if option.title == title)
    return answer(put, ApprovalAnswer(option.id, comment))


CHOICES: list[tuple[dict[str, Any] | None, str, Any]] = [
    (None, "Yes", {}),
    ({}, "Yes", {}),
    ({"sure": {"type": "boolean"}}, "Yes", {"sure": True}),
    ({"sure": {"type": "boolean"}}, "No", {"sure": False}),
    ({"size": {"enum": ["s", "l"]}}, "l", {"size": "l"}),
    ({"size": {"enum": ["s", "l"], "enumNames": ["Small"]}}, "Small", {"size": "s"}),
    ({"size": {"oneOf": [{"const": 1, "title": "One"}, {"const": 2}]}}, "One", {"size": 1}),
    ({"a": {"type": "string", "default": "x"}}, "Accept what is proposed", {"a": "x"}),
    ({"a": {"default": 1}, "b": {"default": None}}, "Accept what is proposed", {"a": 1, "b": None}),
]


@pytest.mark.parametrize(("properties", "title", "content"), CHOICES)
def test_what_the_user_chooses_is_what_the_server_gets(properties: Any, title: str, content: Any) -> None:
    assert chosen(asks(properties), title) == ServerAnswer("accept", content)


def test_words_fill_the_one_field_that_is_a_text() -> None:
    question = asks({"name": {"type": "string"}})
    assert chosen(question, IN_WORDS.title, "Ada") == ServerAnswer("accept", {"name": "Ada"})
    assert chosen(question, IN_WORDS.title) == ServerAnswer("decline")


@pytest.mark.parametrize(
    "properties",
    [
        {"a": {"type": "string"}, "b": {"type": "string"}},
        {"a": {"type": "integer"}},
        {"a": {"enum": [str(number) for number in range(9)]}},
        {"a": 3},
    ],
)
def test_what_an_approval_has_no_room_for_is_not_put(properties: dict[str, Any]) -> None:
    assert form(asks(properties)) is None


def test_declined_and_dismissed_are_told_apart() -> None:
    put = form(asks())
    assert put is not None
    assert answer(put, ApprovalAnswer(None)) == ServerAnswer("cancel")
    assert answer(put, ApprovalAnswer(None, by="headless")) == ServerAnswer("decline")
    assert answer(put, ApprovalAnswer("decline", "no")) == ServerAnswer("decline")
    assert answer(put, ApprovalAnswer("unheard of")) == ServerAnswer("decline")


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "file:///etc/passwd", "https://", "https://é.example", "http:x"]
)
def test_a_page_that_is_none_is_not_put(url: str) -> None:
    assert form(ServerQuestion("desk", "Log in", url=url)) is None


def test_a_page_is_shown_whole_and_not_opened() -> None:
    page = "https://login.example/a?b=c"
    asked = ServerQuestion("desk", "Log in", url=page)
    put = form(asked)
    assert put is not None
    assert put.text.endswith(f"\n{page}")
    assert chosen(asked, "I have done it").action == "accept"


def test_nothing_in_a_question_is_unseen() -> None:
    put = form(asks({"a\u202eb": {"enum": ["x\u200by"], "title": "t\u2028u"}}, "Sure\u202e?"))
    assert put is not None
    shown = put.text + "".join(option.title for option in put.options)
    assert not set("\u202e\u200b\u2028") & set(shown)


async def test_the_user_is_asked_in_the_turn(bench: Bench) -> None:
    tool = ServedTool("desk", "put", "", {})
    servers = FakeServers(Offer((tool,)), question=asks({"size": {"enum": ["s", "l"]}}))
    await reopen(bench, servers, {**MINE, "permissions": {"allow": ["mcp__desk"]}})
    await bench.turn("put it", replies=[bench.act("mcp__desk__put", {}), bench.finish("done")])
    (question,) = bench.user.asked
    assert (question.tool, question.title) == ("mcp__desk__put", "The server desk asks: Which one?")
    assert question.always_asked, "no --yes answers for the user"
    assert servers.answered == [ServerAnswer("accept", {"size": "s"})]
    servers.question = asks({"a": {"type": "integer"}})
    await bench.turn("again", replies=[bench.act("mcp__desk__put", {}), bench.finish("done")])
    assert servers.answered[-1] == ServerAnswer("decline")
    assert [notice.code for notice in bench.kinds("notice")] == ["mcp_declined"]


async def test_a_cancel_withdraws_the_question(bench: Bench) -> None:
    servers = FakeServers(Offer((ServedTool("desk", "put", "", {}),)), question=asks())
    await reopen(bench, servers, {**MINE, "permissions": {"allow": ["mcp__desk"]}})
    bench.user.answer = None
    bench.vendor.reset([bench.act("mcp__desk__put", {}), bench.finish("done")])
    turn = await bench.session.send(None, "put it")
    await until(lambda: bench.user.asked)
    turn.cancel()
    assert (await turn.result()).stop_reason == "cancelled"
    assert bench.user.withdrawn == 1
    assert servers.answered == []
