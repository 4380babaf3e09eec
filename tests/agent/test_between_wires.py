"""A chat that goes back and forth between two vendors, each as strict as the real one (P-4, P-5)."""

from __future__ import annotations

import pytest

from codelaw.agent.dialects.choosing import DialectFacts
from codelaw.agent.dialects.native import Native
from codelaw.app.models import facts_of
from codelaw.settings.effective import load_settings
from tests.agent.conftest import Bench
from tests.loopback.claude import Account
from tests.loopback.responses import ResponsesVendor
from tests.loopback.script import VendorReply

CLAUDE, GPT = "claude-sonnet-5-5", "gpt-6.2-sol"


def answers(bench: Bench, word: str) -> list[VendorReply]:
    thinks = {"thinking": "Hm."} if bench.dialect == "native" else {}
    return [bench.act("Read", {"path": "a.py"}, **thinks), bench.finish(word, **thinks)]


async def test_each_gets_back_what_it_thought_and_nothing_of_the_other(bench: Bench):
    (bench.root / "a.py").write_text("x = 1\n")
    bench.vendor.account = Account()
    async with ResponsesVendor() as vendor:
        at_openai = {"provider": "openai", "baseUrl": vendor.url, "apiKey": "sk-other"}
        chat, said = None, list[str]()
        for number, name in enumerate([CLAUDE, GPT, CLAUDE, CLAUDE, GPT, GPT]):
            said.append(f"answer {number}")
            (vendor if name == GPT else bench.vendor).play(*answers(bench, said[-1]))
            await bench.reopen(model={"name": name, **(at_openai if name == GPT else {})})
            result = await bench.turn(f"question {number}", chat)
            assert (result.stop_reason, result.answer, result.model) == ("finished", said[-1], name)
            chat = result.chat_id
        for asked in vendor.messages:
            assert b"sk-test" not in asked.body
            assert asked.headers["authorization"] == "Bearer sk-other"
        kept = [item for item in vendor.messages[-1].json["input"] if item["type"] == "reasoning"]
        assert len(kept) == (5 if bench.dialect == "native" else 0), "its own of three turns, but for the last"
        assert all(word in vendor.messages[-1].body.decode() for word in said[:-1]), "texts go to both"
        assert (vendor.refused, [one for asked in vendor.messages for one in asked.removed]) == ([], [])
    assert bench.vendor.refused == []
    assert [one for request in bench.vendor.messages for one in request.transformed] == []
    assert all(b"encrypted_content" not in request.body for request in bench.vendor.messages)


@pytest.mark.parametrize(
    ("environ", "name", "maker"),
    [
        ({"ANTHROPIC_API_KEY": "k"}, CLAUDE, "anthropic"),
        ({"OPENAI_API_KEY": "k"}, GPT, "openai/openai"),
        ({"OPENROUTER_API_KEY": "k"}, f"openai/{GPT}", "openai/openrouter"),
        ({"GROQ_API_KEY": "k"}, f"openai/{GPT}", "openai/groq"),
    ],
)
def test_what_one_vendor_has_given_of_a_model_is_nothing_to_another(environ: dict[str, str], name: str, maker: str):
    dialect = facts_of(load_settings(environ=environ).value, name, {}, DialectFacts()).dialect
    assert isinstance(dialect, Native)
    assert dialect.binding is not None
    assert dialect.binding.maker == maker
