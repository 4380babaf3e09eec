"""Which models are offered: what endpoints list when somebody asks, and what runs on this machine (P-4)."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.loopback.lists import Serving, ollama
from tests.loopback.script import VendorReply
from tests.lsp.raw import RawClient, stdio
from tests.scenarios.conftest import finish

LIST = "codelaw/model/list"
NOBODY = "http://127.0.0.1:9"
LOCAL = ("OLLAMA", "LMSTUDIO", "LLAMACPP", "VLLM")

Open = Callable[..., AbstractAsyncContextManager[RawClient]]


@pytest.fixture
def work(home: Path, server: list[str], root: Path) -> Open:
    """A server with these variables, and no other key."""

    @asynccontextmanager
    async def started(**variables: str) -> AsyncIterator[RawClient]:
        nobody = {f"{name}_BASE_URL": NOBODY for name in LOCAL}
        env = {**os.environ, "CODELAW_HOME": str(home), **nobody, **variables}
        async with stdio(server, env=env) as client:
            await client.initialize(None, folders=[root])
            yield client

    return started


@pytest.fixture
async def serving() -> AsyncIterator[Callable[..., Any]]:
    async with AsyncExitStack() as stack:

        async def start(served: Any = None, **facts: Any) -> Serving:
            return await stack.enter_async_context(Serving(served, **facts))

        yield start


def listing(*names: str, **facts: Any) -> dict[str, Any]:
    return {"object": "list", "data": [{"id": name, **facts} for name in names]}


async def listed(client: RawClient, *, discover: bool = True) -> dict[str, dict[str, Any]]:
    rows = (await client.request(LIST, {"discover": discover}))["models"]
    assert len({row["name"] for row in rows}) == len(rows)
    return {row["name"]: row for row in rows}


async def test_endpoints_are_asked_once_when_somebody_wants_to_see_their_lists(work: Open, serving: Any):
    claude = await serving({"/v1/models": listing("claude-new-9", max_input_tokens=150_000, max_tokens=9000)})
    other = await serving({"/models": listing("gpt-6.2-sol", "gpt-99")})
    keys = {"ANTHROPIC_API_KEY": "a", "ANTHROPIC_BASE_URL": claude.url}
    async with work(MISTRAL_API_KEY="m", MISTRAL_BASE_URL=other.url, CODELAW_MODEL__PROVIDER="anthropic") as client:
        before = await listed(client, discover=False)
        assert other.paths == []
        assert before["mistral/mistral-large-4"]["provider"] == "mistral"
        for _ in range(2):
            assert [name for name in await listed(client) if "/" in name] == ["mistral/gpt-6.2-sol", "mistral/gpt-99"]
        assert other.paths == ["/models"]
        again = await listed(client, discover=False)
        assert "mistral/gpt-99" in again
    async with work(**keys, OPENAI_API_KEY="o", OPENAI_BASE_URL=other.url) as client:
        rows = await listed(client)
        # Behind an address of one's own names begin with vendors: none of another provider could be chosen.
        assert [name for name in rows if name.startswith("openai/")] == []
        assert (rows["claude-new-9"]["contextWindow"], rows["claude-new-9"]["source"]) == (150_000, "endpoint")
        assert [row["name"] for row in rows.values() if row["current"]] == ["claude-sonnet-5-5"]


async def test_rows_stand_by_provider_and_family(work: Open, serving: Any):
    names = ["whisper-1", "gpt-4.1", "sonar-1", "gpt-6-luna", "sonar-2"]
    vendor = await serving({"/models": listing(*names)})
    local = await serving(ollama("qwen3:8b", "llama4"))
    async with work(OPENAI_API_KEY="o", OPENAI_BASE_URL=vendor.url, OLLAMA_BASE_URL=local.url) as client:
        rows = [*(await listed(client)).values()]
    assert [row["name"] for row in rows] == [
        *("gpt-6.2-sol", "gpt-4.1", "gpt-6-luna", "whisper-1", "sonar-1", "sonar-2"),
        *("ollama/qwen3:8b", "ollama/llama4"),
    ]
    assert [row["provider"] for row in rows] == [*["openai"] * 6, *["ollama"] * 2]
    assert rows[1]["priceIn"] == 2


async def test_a_list_that_does_not_come_leaves_what_is_known_and_is_said(work: Open, serving: Any):
    slow, wrong = await serving({"/models": listing("x")}), await serving(key="another")
    slow.pause = 60
    variables = {"ANTHROPIC_API_KEY": "a", "CODELAW_MODEL__PROVIDER": "deepseek", "DEEPSEEK_API_KEY": "d"}
    async with work(**variables, DEEPSEEK_BASE_URL=slow.url, XAI_API_KEY="x", XAI_BASE_URL=wrong.url) as client:
        begun = time.monotonic()
        answer = await client.request(LIST, {"discover": True})
        assert time.monotonic() - begun < 20
        assert "deepseek-v4-pro" in [row["name"] for row in answer["models"]]
        said = "\n".join(answer["problems"])
        assert "DeepSeek does not list its models: it did not answer within 5 s." in said
        assert "problems" not in await client.request(LIST, {})


async def test_ten_thousand_models_are_cut_with_a_word(work: Open, serving: Any):
    vendor = await serving({"/v1/models": listing(*(f"vendor/model-{number}" for number in range(10_000)))})
    async with work(OPENROUTER_API_KEY="o", OPENROUTER_BASE_URL=vendor.url) as client:
        answer = await client.request(LIST, {"discover": True})
    assert 500 <= len(answer["models"]) <= 503
    assert answer["problems"] == ["OpenRouter lists 10000 models: the first 500 are shown, type any other."]


async def test_a_local_server_is_offered_and_answers_when_it_is_chosen(work: Open, serving: Any):
    local = await serving(ollama("qwen3:8b"), script=[VendorReply(text=finish("hello from here"))] * 2)
    async with work(OLLAMA_BASE_URL=local.url) as client:
        rows = await listed(client)
        assert [name for name, row in rows.items() if row["current"]] == ["offline"]
        assert rows["ollama/qwen3:8b"]["provider"] == "ollama"
        answered = await client.request("codelaw/chat/send", {"text": "hi"})
        assert (answered["model"], local.messages) == ("offline", []), "it is never taken"
        answered = await client.request("codelaw/chat/send", {"text": "hi", "model": "ollama/qwen3:8b"})
        assert (answered["answer"], answered["model"]) == ("hello from here", "ollama/qwen3:8b")
        assert [one.json["model"] for one in local.messages] == ["qwen3:8b"]
        # What it really runs with is known once it has loaded the model.
        while (await listed(client, discover=False))["ollama/qwen3:8b"]["contextWindow"] != 4096:
            pass


async def test_what_only_listens_is_no_server_of_models(work: Open, serving: Any):
    page = await serving({"/v1/models": b"<html>my site</html>"})
    async with work(VLLM_BASE_URL=page.url) as client:
        answer = await client.request(LIST, {"discover": True})
    assert [row["name"] for row in answer["models"] if row["provider"] == "vllm"] == []
    assert "problems" not in answer
    assert page.paths == ["/v1/models"]
