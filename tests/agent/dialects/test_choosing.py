"""Which dialect a chat is held in, decided on values (R-3, R-4)."""

from __future__ import annotations

import pytest

from codelaw.adapters.models.catalog import profile
from codelaw.agent.dialects.choosing import DialectFacts, begun, chosen, dialects
from codelaw.app.plans import arranged
from codelaw.domain.chats import Dialect, DialectChoice
from codelaw.domain.messages import Call, Message, Metadata
from codelaw.tools.toolbox import default_toolbox
from tests.fakes.served import many

THINKS, PLAIN, UNKNOWN = "claude-sonnet-5-5", "deepseek-chat", "my-model"


@pytest.mark.parametrize(
    ("wanted", "model", "before", "dialect"),
    [
        ("auto", THINKS, None, "native"),
        ("auto", "claude-sonnet-4-5", None, "native"),
        ("auto", PLAIN, None, "react"),
        ("auto", UNKNOWN, None, "react"),
        ("auto", "offline", None, "react"),
        ("auto", THINKS, "react", "react"),
        ("auto", PLAIN, "native", "native"),
        ("auto", "offline", "native", "native"),
        ("auto", UNKNOWN, "native", "react"),
        ("react", THINKS, "native", "react"),
        ("native", PLAIN, "react", "native"),
        ("native", UNKNOWN, None, "native"),
    ],
)
def test_the_setting_then_the_chat_then_the_model(
    wanted: DialectChoice, model: str, before: Dialect | None, dialect: Dialect
):
    assert chosen(wanted, profile(model), before) == dialect


@pytest.mark.parametrize(("model", "dialect"), [(THINKS, "native"), (PLAIN, "native"), (UNKNOWN, "react")])
def test_a_chat_whose_model_refused_to_reason_stays_native_where_its_model_calls_tools(model: str, dialect: Dialect):
    assert chosen("react", profile(model), "react", switched=True) == dialect


def test_the_first_whole_reply_tells_what_a_chat_began_with():
    asked = Message("m0", "t", "user", "go")
    cut = Message("m1", "t", "assistant", "so [interrupted: x]", Metadata(interrupted=True))
    native = Message("m2", "t", "assistant", "I look.", Metadata(native=True, calls=(Call("c", "LS", {}),)))
    react = Message("m3", "t", "assistant", "Thought: t\nAction: Finish[ok]", Metadata(answer="ok"))
    assert begun([asked, cut]) is None
    assert begun([asked, cut, native, react]) == "native"
    assert begun([asked, react, native]) == "react"


def test_only_a_model_that_may_refuse_it_is_not_asked_for_its_reasoning():
    asked = [
        dialects("react", name, profile(name), DialectFacts())[0].reasoning
        for name in (THINKS, "claude-sonnet-4-5", UNKNOWN)
    ]
    assert asked == [False, True, True]


def test_there_is_a_way_out_of_react_where_the_model_calls_tools():
    ways = [dialects("react", name, profile(name), DialectFacts())[1] is not None for name in (THINKS, PLAIN, UNKNOWN)]
    assert ways == [True, True, False]
    assert dialects("native", THINKS, profile(THINKS), DialectFacts())[1] is None


def test_tools_that_were_to_be_found_can_be_called_after_the_switch():
    react, native = dialects("react", THINKS, profile(THINKS), DialectFacts())
    assert native is not None
    found = arranged(default_toolbox(brought=many(300)), react, 1_000)
    assert "call_tool" not in found.names
    assert found.calling().names == (*found.names, "call_tool")
    assert found.calling().names == arranged(default_toolbox(brought=many(300)), native, 1_000).names
    assert found.calling().calling().names == found.calling().names
