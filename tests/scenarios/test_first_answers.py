"""With the key of a vendor in its variable, or with a server on this machine, the first question is answered (P-4)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.loopback.completions import CompletionsVendor
from tests.loopback.lists import Serving
from tests.loopback.responses import ResponsesVendor
from tests.loopback.script import VendorReply
from tests.scenarios.conftest import finish
from tests.scenarios.test_model_lists import Open, listing, serving, work

__all__ = ["serving", "work"]

KEYS = {
    "ANTHROPIC": "claude-sonnet-5-5",
    "OPENAI": "gpt-6.2-sol",
    "OPENROUTER": "anthropic/claude-sonnet-5.5",
    "GEMINI": "gemini-3.8-flash",
    "MISTRAL": "mistral-large-4",
    "DEEPSEEK": "deepseek-v4-pro",
    "XAI": "grok-4.5",
    "GROQ": "openai/gpt-oss-120b",
}
"""The names in front of `_API_KEY`, and the models that answer."""


def hello(request: Any) -> VendorReply:
    """In the dialect in which it was asked."""
    return VendorReply(text="hello" if "tools" in request.json else finish("hello"))


def vendor(name: str) -> Any:
    """The fake of what the vendor speaks."""
    match name:
        case "OPENAI":
            return ResponsesVendor(VendorReply(text="hello"))
        case "GEMINI" | "MISTRAL" | "XAI" | "GROQ":
            return CompletionsVendor(name.lower(), VendorReply(text="hello"))
        case _:
            return Serving(script=[hello])


@pytest.mark.parametrize("name", KEYS)
async def test_a_key_is_enough(work: Open, name: str):
    async with vendor(name) as fake:
        async with work(**{f"{name}_API_KEY": "k3y-of-its-own", f"{name}_BASE_URL": fake.url}) as client:
            answered = await client.request("codelaw/chat/send", {"text": "hi"})
        assert (answered["stopReason"], answered["answer"], answered["model"]) == ("finished", "hello", KEYS[name])
        (sent,) = [one for one in fake.requests if one.method == "POST" and one.status == 200]
        assert "k3y-of-its-own" in sent.headers.get("authorization", "") + sent.headers.get("x-api-key", "")


@pytest.mark.parametrize("name", ["ANTHROPIC", "OPENROUTER", "DEEPSEEK"])
async def test_a_key_of_another_vendor_is_refused_with_the_variable_to_mend(work: Open, serving: Any, name: str):
    fake = await serving(key="the-right-one")
    async with work(**{f"{name}_API_KEY": "sk-of-another", f"{name}_BASE_URL": fake.url}) as client:
        error = (await client.request("codelaw/chat/send", {"text": "hi"}))["error"]
    assert error["code"] == "auth_failed"
    assert "invalid x-api-key" in error["message"], "in the vendor's words"
    assert f"the variable {name}_API_KEY" in error["hint"]


async def test_a_model_that_is_gone_is_refused_with_what_there_is_now(work: Open, serving: Any):
    missing = VendorReply(status=404, error_type="not_found_error", error_message="model: claude-old-4")
    fake = await serving({"/v1/models": listing("claude-old-5", "claude-new-9")}, script=[hello])
    async with work(ANTHROPIC_API_KEY="a", ANTHROPIC_BASE_URL=fake.url, CODELAW_MODEL__NAME="claude-old-4") as client:
        first = await client.request("codelaw/chat/send", {"text": "hi"})
        assert first["stopReason"] == "finished"
        fake.script = [missing]
        error = (await client.request("codelaw/chat/send", {"chatId": first["chatId"], "text": "again"}))["error"]
    assert error["code"] == "model_not_found"
    assert error["hint"] == "Anthropic lists 2 models now, such as claude-old-5, claude-new-9: choose one."
