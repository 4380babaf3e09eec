"""An editor that lends models and tools: it plays a script, and takes only what `vscode.lm` would take."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from tests.lsp.raw import EVERYTHING, RpcError


def lending(**services: Any) -> dict[str, Any]:
    """The capabilities of a client that answers these requests below `codelaw/editor/`."""
    ours = {**EVERYTHING["experimental"]["codelaw"], "editor": services}
    return {**EVERYTHING, "experimental": {"codelaw": ours}}


LENDS = lending(model={}, models={})
LENDS_TOOLS = lending(tool={}, tools={})
MODEL = {"id": "copilot/gpt-x", "name": "GPT X", "family": "gpt", "maxInputTokens": 64_000}
NAME = "editor/copilot/gpt-x"
Parts = list[dict[str, Any]]


def text(words: str) -> dict[str, Any]:
    return {"kind": "text", "text": words}


def call(call_id: str, name: str, given: Any) -> dict[str, Any]:
    return {"kind": "call", "callId": call_id, "name": name, "input": given}


def refusal(code: str, message: str) -> RpcError:
    """How an editor says no."""
    return RpcError({"code": -32803, "message": message, "data": {"code": code}})


class Lender:
    """Answers for the editor. A reply is a list of parts, an error, or a function that says its parts itself."""

    def __init__(self, client: Any, *replies: Parts | RpcError | Callable[[Callable[..., Any]], Any]) -> None:
        self.client, self.replies = client, list(replies)
        self.models: list[dict[str, Any]] = [MODEL]
        self.asked: list[dict[str, Any]] = []
        client.answers["codelaw/editor/models"] = lambda _: {"models": self.models}
        client.answers["codelaw/editor/model"] = self.answer

    async def answer(self, params: dict[str, Any]) -> Any:
        assert set(params) == {"model", "messages", "tools", "partialResultToken"}
        if params["model"] not in {one["id"] for one in self.models}:
            return refusal("NotFound", "There is no such model.")
        check(params["messages"])
        self.asked.append(params)

        async def say(*parts: dict[str, Any]) -> None:
            for part in parts:
                value = {"token": params["partialResultToken"], "value": part}
                await self.client.notify("$/progress", value)

        reply = self.replies.pop(0)
        if isinstance(reply, RpcError):
            return reply
        if callable(reply):
            return await reply(say)
        await say(*reply)
        return {"stop": "end_turn"}


def check(messages: list[dict[str, Any]]) -> None:
    """As strict as the strictest provider: results directly behind their calls, each once; no empty texts."""
    assert messages, "no messages"
    assert messages[0]["role"] == messages[-1]["role"] == "user"
    opened: list[str] = []
    for message in messages:
        assert message["parts"], "an empty message"
        kinds = [part["kind"] for part in message["parts"]]
        if message["role"] == "assistant":
            assert not opened, f"calls without results: {opened}"
            assert set(kinds) <= {"text", "call"}
            opened = [part["callId"] for part in message["parts"] if part["kind"] == "call"]
            assert len(set(opened)) == len(opened), "a call's id twice"
        else:
            assert set(kinds) <= {"text", "result"}
            results = [part["callId"] for part in message["parts"] if part["kind"] == "result"]
            assert sorted(results) == sorted(opened), "results are not those of the calls before"
            opened = []
        assert all(part["text"] for part in message["parts"] if part["kind"] == "text")


async def forever(_say: Any) -> Any:
    """A reply that never ends."""
    await asyncio.Event().wait()


class ToolBox:
    """Has tools of extensions for the editor. What one does is an answer, an error, or a coroutine function."""

    def __init__(self, client: Any, **does: Any) -> None:
        self.client = client
        self.does: dict[str, Any] = does
        self.tools: Any = [tool(name) for name in does]
        self.called: list[dict[str, Any]] = []
        self.listed = 0
        client.answers["codelaw/editor/tools"] = self.list
        client.answers["codelaw/editor/tool"] = self.call

    def list(self, params: dict[str, Any]) -> Any:
        assert params == {}
        self.listed += 1
        return {"tools": self.tools}

    async def call(self, params: dict[str, Any]) -> Any:
        assert set(params) == {"name", "input"}
        self.called.append(params)
        does: Any = self.does.get(params["name"], refusal("NotFound", "There is no such tool."))
        if not callable(does):
            return does
        answer: Any = does(params["input"])
        return await answer


def tool(name: str, description: str = "Looks a word up.", **more: Any) -> dict[str, Any]:
    """A tool as its extension describes it."""
    schema = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}
    return {"name": name, "description": description, "inputSchema": schema, **more}


def gives(*parts: dict[str, Any]) -> dict[str, Any]:
    """What a tool gives."""
    return {"parts": [*parts]}
